import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import {
  type ErrorCode,
  errorCatalogue,
  HoldfastError,
  isHoldfastError,
  isToolFailure,
  ToolFailure,
} from "../../src/domain/errors.ts";

const codes = Object.keys(errorCatalogue) as ErrorCode[];

test.each(codes)("%s says whether to retry, its HTTP status and what to do next", (code) => {
  const { retry, status, next } = errorCatalogue[code];
  expect(["never", "later", "reload"]).toContain(retry);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(600);
  expect(next).toMatch(/^[A-Z`].*\.$/s);
  expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
});

test("an error carries its row of the catalogue", () => {
  const error = new HoldfastError("store-full", "No room for run r-1", { cause: new Error("ENOSPC") });
  expect(error).toMatchObject({ code: "store-full", retry: "later", status: 507, problems: [], details: {} });
  expect(error.cause).toMatchObject({ message: "ENOSPC" });
  expect(error.name).toBe("HoldfastError");
  expect(error).toBeInstanceOf(Error);
});

test("an error with several problems names them all in its message", () => {
  const error = new HoldfastError("invalid-tool", "Tool x", {
    problems: ["name: bad", "input: bad"],
    details: { x: 1 },
  });
  expect(error.message).toBe("Tool x: name: bad; input: bad");
  expect(error.problems).toEqual(["name: bad", "input: bad"]);
  expect(error.details).toEqual({ x: 1 });
});

test("an error is recognised by its marker, and by its code when one is asked for", () => {
  const error = new HoldfastError("run-ended", "over");
  expect(isHoldfastError(error)).toBe(true);
  expect(isHoldfastError(error, "run-ended")).toBe(true);
  expect(isHoldfastError(error, "run-exists")).toBe(false);
});

test("an error of another copy of the package, or of another realm, is recognised", () => {
  const copy = runInContext(
    'const e = new Error("over"); e.code = "run-ended"; e[Symbol.for("holdfast.error")] = true; e',
    createContext({}),
  );
  expect(copy instanceof Error).toBe(false);
  expect(isHoldfastError(copy, "run-ended")).toBe(true);
});

test.each([null, undefined, "holdfast.error", 7, {}, new Error("x"), { code: "run-ended", name: "HoldfastError" }])(
  "%o is no Holdfast error, whatever it looks like",
  (value) => {
    expect(isHoldfastError(value)).toBe(false);
    expect(isToolFailure(value)).toBe(false);
  },
);

test("a tool failure is recognised across copies, and other throws are not", () => {
  const failure = new ToolFailure("card declined", { cause: new Error("402") });
  expect(isToolFailure(failure)).toBe(true);
  expect(failure).toMatchObject({ name: "ToolFailure", message: "card declined" });
  expect(failure.cause).toMatchObject({ message: "402" });
  expect(isToolFailure({ "~toolFailure": true, message: "x" })).toBe(true);
  expect(isToolFailure(new Error("card declined"))).toBe(false);
});

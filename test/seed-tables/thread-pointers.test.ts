import { expect, test } from "vitest";
import type { RunId } from "../../src/domain/ids.ts";
import { canMove, type RunStatus } from "../../src/domain/run.ts";
import { pointersAfter } from "../../src/domain/seed-tables/thread-pointers.ts";

const run = "run-1" as RunId;
const other = "run-0" as RunId;

const statuses: readonly RunStatus[] = ["created", "running", "waiting", "done"];
const legal: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  created: ["created", "running", "done"],
  running: ["running", "waiting", "done"],
  waiting: ["waiting", "running", "done"],
  done: [],
};

test.each(statuses)("XA-03 from %s only the legal moves are taken", (from) => {
  expect(statuses.filter((to) => canMove(from, to)).sort()).toEqual([...legal[from]].sort());
});

test("XA-13 created: latest and open are this run, none is active", () => {
  expect(pointersAfter({}, { run, status: "created" })).toStrictEqual({ latest: run, open: run });
});

test("XA-13 running: latest, active and open are this run", () => {
  expect(pointersAfter({}, { run, status: "running" })).toStrictEqual({ latest: run, active: run, open: run });
});

test("XA-13 waiting: the run stays open and is active no more", () => {
  const running = { latest: run, active: run, open: run };
  expect(pointersAfter(running, { run, status: "waiting" })).toStrictEqual({ latest: run, open: run });
});

test("XA-13 done: what points at this run is cleared, what points at another stays", () => {
  const running = { latest: run, active: run, open: run };
  expect(pointersAfter(running, { run, status: "done" })).toStrictEqual({ latest: run });
  const others = { latest: other, active: other, open: other };
  expect(pointersAfter(others, { run, status: "done" })).toStrictEqual({ latest: run, active: other, open: other });
  expect(pointersAfter({ open: other }, { run, status: "done" })).toStrictEqual({ latest: run, open: other });
});

test("XA-13 active is derived: over a whole life it is the run exactly while it is running", () => {
  const life: readonly RunStatus[] = ["created", "running", "waiting", "running", "done"];
  let pointers = {};
  for (const status of life) {
    pointers = pointersAfter(pointers, { run, status });
    expect("active" in pointers).toBe(status === "running");
  }
});

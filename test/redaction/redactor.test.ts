import fc from "fast-check";
import { expect, test } from "vitest";
import { createInMemoryBus } from "../../src/buses/in-memory.ts";
import { compileRegex } from "../../src/domain/patterns/linear-regex.ts";
import type { Span } from "../../src/domain/patterns/spans.ts";
import { Problems } from "../../src/domain/problems.ts";
import { type RedactOptions, type Redactor, readRedaction } from "../../src/domain/redaction.ts";
import { createRuntime, memory, type StoreDefinition, secret } from "../../src/index.ts";
import { redactingLogger } from "../../src/platform/redacting-logger.ts";

function redactor(options?: RedactOptions): Redactor {
  const problems = new Problems({}, []);
  const made = readRedaction(options, problems);
  expect(problems.found).toEqual([]);
  return made;
}

test.each([
  ["api-key", "key=sk-proj-AbCdEf0123456789xyz!", "key=[redacted: api-key]!"],
  ["api-key", "AKIAIOSFODNN7EXAMPLE is it", "[redacted: api-key] is it"],
  ["api-key", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "[redacted: api-key]"],
  ["api-key", "t eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl.", "t [redacted: api-key]."],
  ["bearer-token", "Authorization: Bearer abc.def-123", "Authorization: Bearer [redacted: bearer-token]"],
  ["bearer-token", "at postgres://me:pa55@db:5432/x", "at postgres://me:[redacted: bearer-token]@db:5432/x"],
  [
    "private-key",
    "a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b -----BEGIN PRIVATE KEY-----\nrest",
    "a [redacted: private-key] b [redacted: private-key]",
  ],
  ["card", "pay 4111 1111 1111 1111, or 378282246310005.", "pay [redacted: card], or [redacted: card]."],
  ["card", "order 12 4111-1111-1111-1111", "order 12 [redacted: card]"],
  [
    "iban",
    "to DE89 3704 0044 0532 0130 00 PLEASE, or GB82WEST12345698765432",
    "to [redacted: iban] PLEASE, or [redacted: iban]",
  ],
  ["email", "from <ann.o'hara+x@mail.example.co.uk>.", "from <[redacted: email]>."],
] as const)("%s is found in %j and nothing beside it is taken", (name, text, seen) => {
  expect(redactor({ detectors: [name] }).text(text)).toBe(seen);
  expect(redactor({ detectors: [] }).text(text)).toBe(text); // found because of the detector
});

test.each([
  ["4111 1111 1111 1112"],
  ["at 1731689999999 ms, position 12345678"],
  ["0192f3a4-7b1c-7def-8a12-3456789abcde"],
  ["GB82WEST12345698765433"],
  ["a task-based approach, risk_of_loss"],
  ["Run run-1 ended @ noon"],
  ["bearer of news"],
])("X3: %j is left as it is", (text) => {
  expect(redactor().text(text)).toBe(text);
});

test("paths hide fields wherever they lie, in any case, in lists, and whatever they hold", () => {
  const { json } = redactor({ paths: ["password", "headers.authorization", "cards.*.number"], detectors: [] });
  const given = {
    Password: { nested: 1 },
    list: [{ password: null, authorization: "kept" }],
    headers: { Authorization: "x", accept: "y" },
    cards: [{ number: 1, brand: "v" }],
    number: 2,
  };
  expect(json(given)).toEqual({
    Password: "[redacted: path]",
    list: [{ password: "[redacted: path]", authorization: "kept" }],
    headers: { Authorization: "[redacted: path]", accept: "y" },
    cards: [{ number: "[redacted: path]", brand: "v" }],
    number: 2,
  });
  expect(given.headers.Authorization).toBe("x");
});

test("texts, keys and numbers of JSON go by the same rules", () => {
  const { json } = redactor();
  expect(json({ "ann@example.com": ["a", 4111111111111111, 7, true, null] })).toEqual({
    "[redacted: email]": ["a", "[redacted: card]", 7, true, null],
  });
});

test("X1: where rules overlap, all of what any of them covers is hidden", () => {
  const { text } = redactor({ patterns: ["bcd", "cdef", secret("fg")], detectors: [] });
  expect(text("abcdefgh")).toBe("a[redacted: pattern]h");
  expect(text("xfgx")).toBe("x[secret]x");
  expect(redactor({ patterns: ["b", "abcd"], detectors: [] }).text("abcde")).toBe("[redacted: pattern]e");
});

test("X2: a detector that throws, or answers with no places, hides the whole text", () => {
  const broken = {
    name: "broken",
    find: () => {
      throw new Error("no");
    },
  };
  const strange = { name: "strange", find: () => [[Number.NaN, 3]] as never };
  expect(redactor({ detectors: [broken] }).text("something")).toBe("[redacted: broken]");
  expect(redactor({ detectors: [strange] }).text("something")).toBe("[redacted: strange]");
});

test("S1: spans cover exactly what some match covers", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 12 });
  const sources = fc.constantFrom(
    "a+b",
    "ab|b",
    "ab|bc",
    "a.c",
    "(ab)*c",
    "b{2,3}",
    "^a|c$",
    "a*",
    "\\bab\\b",
    "[^a]b?",
  );
  fc.assert(
    fc.property(sources, letters, (source, text) => {
      const compiled = compileRegex(source);
      const spans = compiled.ok ? compiled.spans(text) : [];
      const covered = Array.from(text, (_, at) => spans.some(([from, to]) => from <= at && at < to));
      expect(covered).toEqual(Array.from(text, (_, at) => isCovered(source, text, at)));
    }),
    { numRuns: 500 },
  );
});

/** By trying every stretch of the text that has the place in it. */
function isCovered(source: string, text: string, at: number): boolean {
  for (let from = 0; from <= at; from += 1) {
    for (let to = at + 1; to <= text.length; to += 1) {
      if (fitsAt(source, text, [from, to])) return true;
    }
  }
  return false;
}

function fitsAt(source: string, text: string, [from, to]: Span): boolean {
  return new RegExp(`(?<=^[^]{${from}})(?:${source})(?=[^]{${text.length - to}}$)`, "u").exec(text) !== null;
}

test("hostile text costs no more than its length asks for", () => {
  const { text } = redactor({ patterns: ["(a+)+b", "x.*y"] });
  for (const piece of ["a", "@", "a@", "eyJ-", "4 ", "DE89 ", "-----BEGIN PRIVATE KEY", "bearer ", "://:", "sk-"]) {
    expect(typeof text(piece.repeat(20_000))).toBe("string"); // a backtracking engine would not come back
  }
});

test("every problem with the rules is named at once", async () => {
  const redact = { paths: ["a..b", "*"], patterns: ["(?=x)", 7], detectors: ["phone"], other: 1 } as never;
  await expect(createRuntime({ redact })).rejects.toMatchObject({
    code: "invalid-options",
    problems: [
      expect.stringMatching(/^redact\.other: unknown option/),
      expect.stringMatching(/^redact\.paths\[0\]: "a\.\.b" must be names/),
      expect.stringMatching(/^redact\.paths\[1\]: "\*" must be names/),
      expect.stringMatching(/^redact\.patterns\[0\]: .*look-ahead/),
      expect.stringMatching(/^redact\.patterns\[1\]: must be the text/),
      expect.stringMatching(/^redact\.detectors\[0\]: must be \{ name, find \} or one of api-key/),
    ],
  });
});

test("the logger is given plain data only, and never something that could throw or show itself", () => {
  const lines: unknown[] = [];
  const keep = (...line: unknown[]): void => void lines.push(line);
  const logger = redactingLogger({ warn: keep, note: keep }, redactor({ paths: ["token"] }));
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  logger.warn("to ann@example.com");
  logger.note("details", {
    cause: new Error("to ann@example.com"),
    token: 1,
    at: new Date(0),
    bytes: new Uint8Array(3),
    key: secret("hidden-canary"),
    map: new Map([["ann@example.com", 1]]),
    code: () => 1,
    big: 10n,
  });
  logger.warn("cycle", cycle);
  expect(lines.slice(0, 2)).toEqual([
    ["to [redacted: email]"],
    [
      "details",
      {
        cause: "Error: to [redacted: email]",
        token: "[redacted: path]",
        at: "1970-01-01T00:00:00.000Z",
        bytes: "(3 bytes)",
        key: "[secret]",
        map: "(a Map, which has no JSON form)",
        code: "(code)",
        big: "10",
      },
    ],
  ]);
  expect(JSON.stringify(lines[2])).toContain("(too deep)");
});

test("the store and the bus are given the logger that redacts", async () => {
  const lines: string[] = [];
  const keep = (line: string): void => void lines.push(line);
  const { open, ...rest } = memory();
  const store: StoreDefinition = {
    ...rest,
    open: (given) => {
      given.logger.warn("opened for ann@example.com");
      return open(given);
    },
    bus: (given) => {
      given.logger.note("hints for ann@example.com");
      return createInMemoryBus(given.logger);
    },
  };
  await using _runtime = await createRuntime({ store, logger: { warn: keep, note: keep } });
  expect(lines).toEqual(["opened for [redacted: email]", "hints for [redacted: email]"]);
});

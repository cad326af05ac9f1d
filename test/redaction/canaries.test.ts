/** Issue "Manifest", it must show 3: what was said is absent from logs, traces, errors, metrics, sinks and metadata events. */
import { beforeAll, describe, expect, test } from "vitest";
import { secret } from "../../src/index.ts";
import { canary, foundIn, type Heard, hear, type Place, type Source } from "./canary-world.ts";

const open = { redact: { detectors: [] }, content: { traces: true, events: true } };
const careful = { redact: { patterns: ["canary-[a-z]+-\\w+"] }, content: { traces: false, events: false } };
const places: readonly Place[] = ["logs", "traces", "errors", "metrics", "sinks", "events"];

// First: what there is to be found when nobody hides anything. A check that finds nothing here would prove nothing below.
test("without redaction and with content, each place shows its canaries", async () => {
  const heard = await hear({ ...open, key: canary("secret") });
  const found = Object.fromEntries(places.map((place) => [place, foundIn(heard[place])]));
  expect(found).toEqual({
    logs: ["config", "header", "input", "secret"],
    traces: ["config", "decision", "error", "fault", "header", "input", "model", "output", "result", "secret", "user"],
    errors: ["config", "fault", "header", "reason", "secret"],
    metrics: [], // numbers only
    sinks: ["output"],
    events: [
      "config",
      "decision",
      "error",
      "fault",
      "header",
      "input",
      "model",
      "output",
      "progress",
      "reason",
      "result",
      "secret",
      "user",
    ],
  } satisfies Record<string, readonly Source[]>);
  expect(foundIn(heard.store)).toContain("secret");
  expect(heard.store).toContain("its worker was lost between intent and settlement"); // one of them really crashed in a call
});

describe("with redaction, and without content", () => {
  let heard: Heard;
  beforeAll(async () => {
    heard = await hear({ ...careful, key: secret(canary("secret")) });
  });

  test.each(places)("there is no canary in %s", (place) => {
    expect(foundIn(heard[place])).toEqual([]);
    expect(heard[place]).not.toMatch(/canary-[a-z]+-7q/);
  });

  test("there is something in each of them, and the store holds content in clear", () => {
    expect(heard.logs).toContain("[redacted: pattern]");
    expect(heard.errors).toContain("[redacted: pattern]");
    expect(heard.sinks).toContain("[redacted: pattern]");
    expect(heard.events).toContain("[hidden]");
    expect(heard.events).toContain("tool-progress");
    expect(heard.traces).toContain("execute_tool lookup");
    expect(heard.metrics).toContain("runs");
    expect(foundIn(heard.store)).toEqual(expect.arrayContaining(["user", "result", "error", "model"]));
  });
});

test("traces with content go through redaction too", async () => {
  const heard = await hear({ ...careful, content: { traces: true, events: false }, key: secret(canary("secret")) });
  expect(heard.traces).not.toContain("canary");
  expect(heard.traces).toContain("[redacted: pattern]");
});

test("a secret is nowhere, not even in the store, with redaction off and content on; and its users got it", async () => {
  const heard = await hear({ ...open, key: secret(canary("secret")) });
  for (const place of [...places, "store"] as const) {
    expect(foundIn(heard[place]), place).not.toContain("secret");
  }
  expect(heard.used).toEqual([canary("secret")]);
  expect(heard.logs).toContain("[secret]");
  expect(heard.store).toContain("a secret, which is not written down"); // the careless tool's result
  expect(heard.store).toContain('"key":"(secret)"'); // the plugin's config in its manifest
});

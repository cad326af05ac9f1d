/** Issue "Manifest", it must show 3: what was said is absent from logs, traces, errors, metrics, sinks and metadata events. */
import { beforeAll, describe, expect, test } from "vitest";
import { secret } from "../../src/index.ts";
import { canary, foundIn, inTheOpen, places, type Source, sources, written } from "./canary-sources.ts";
import { rawFault } from "./canary-tools.ts";
import { type Heard, hear } from "./canary-world.ts";

const cells = sources.flatMap((source) => places.map((place) => ({ source, place })));
const open = { redact: { detectors: [] }, content: { traces: true, events: true } };
const careful = { redact: { patterns: ["canary-[a-z]+-\\w+"] }, content: { traces: false, events: false } };

// First: what there is to be found when nobody hides anything. A check that finds nothing here would prove nothing below.
describe("without redaction and with content", () => {
  let heard: Heard;
  beforeAll(async () => {
    heard = await hear({ ...open, key: canary("secret") });
  });

  test.each(cells)("$source in $place: found exactly where it can be", ({ source, place }) => {
    expect(foundIn(heard[place]).includes(source)).toBe(inTheOpen[source].includes(place));
  });

  test("the store holds what was said in clear, and nothing of causes, stacks and what was refused", () => {
    const missing = sources.filter((source) => !foundIn(heard.store).includes(source));
    expect(missing).toEqual(["deep", "progress", "cause", "stack", "schema"]); // deep: read by its hash only
    expect(heard.store).toContain("its worker was lost between intent and settlement"); // one really crashed in a call
  });

  test("causes and stacks would be seen: an error as it was thrown shows both", () => {
    expect(foundIn(written(rawFault))).toEqual(["thrown", "cause", "stack"]);
  });
});

describe("with redaction, and without content", () => {
  let heard: Heard;
  beforeAll(async () => {
    heard = await hear({ ...careful, key: secret(canary("secret")) });
  });

  test.each(cells)("$source is not in $place", ({ source, place }) => {
    expect(heard[place]).not.toContain(canary(source));
  });

  test.each(places)("nor is a part of any canary in %s", (place) => {
    expect(heard[place]).not.toMatch(/canary-[a-z]+-7q/);
  });

  test("there is something in each place", () => {
    for (const place of ["logs", "errors", "sinks"] as const) expect(heard[place]).toContain("[redacted: pattern]");
    for (const word of [
      "[hidden]",
      "reasoning-delta",
      "text-delta",
      "tool-progress",
      "state-changed",
      "ticket-decided",
    ]) {
      expect(heard.events).toContain(word);
    }
    expect(heard.traces).toContain("execute_tool lookup");
    expect(heard.metrics).toContain("runs");
  });

  test("a watcher with content still sees all that events can show, but the secret", () => {
    const shown = sources.filter((source) => inTheOpen[source].includes("events"));
    const live: readonly Source[] = ["progress"]; // a live piece: nothing to be read afterwards
    expect(foundIn(heard.content)).toEqual(shown.filter((source) => source !== "secret" && !live.includes(source)));
  });
});

test("traces with content go through redaction too", async () => {
  const heard = await hear({ ...careful, content: { traces: true, events: false }, key: secret(canary("secret")) });
  expect(heard.traces).not.toContain("canary");
  expect(heard.traces).toContain("[redacted: pattern]");
});

test("a secret is nowhere, not even in the store, with redaction off and content on; and its users got it", async () => {
  const heard = await hear({ ...open, key: secret(canary("secret")) });
  for (const place of [...places, "content", "store"] as const) {
    expect(foundIn(heard[place]), place).not.toContain("secret");
  }
  expect(heard.used).toEqual([canary("secret")]);
  expect(heard.logs).toContain("[secret]");
  expect(heard.store).toContain("a secret, which is not written down"); // the careless tool's result
  expect(heard.store).toContain('"key":"(secret)"'); // the plugin's config in its manifest
});

/** Invariant V4: what a filter looks at, and when; and the one event that everybody waits for. */
import { expect, test } from "vitest";
import type { EventFilter } from "../../src/domain/event-filter.ts";
import { agent, createRuntime } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { turn } from "../../src/testing/test-process.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";
import { type Durable, look, take, talker, writer } from "./streams.ts";

/** Entries of these types may be looked at from outside only: their envelope is there, what they hold throws. */
function sealing(types: readonly string[]): Intercept {
  const sealed = <T extends object>(entry: T & { readonly type: string }): T => {
    if (!types.includes(entry.type)) return entry;
    const isEnvelope = (key: PropertyKey): boolean => ["type", "seq", "at", "epoch", "identity"].includes(String(key));
    const get = (target: T, key: PropertyKey): unknown => {
      if (!isEnvelope(key)) throw new Error(`the payload of ${entry.type} was read: ${String(key)}`);
      return Reflect.get(target, key);
    };
    const ownKeys = (): never => get(entry, "everything") as never;
    return new Proxy(entry, { get, ownKeys });
  };
  return async (call, proceed) => {
    const answer = await proceed();
    if (call.method !== "readAll") return answer;
    const rows = answer as readonly { readonly entries: readonly { readonly type: string }[] }[];
    return rows.map((row) => ({ ...row, entries: row.entries.map(sealed) })) as typeof answer;
  };
}

test("V4 a filter never reads a payload: entries that throw when they are opened pass by unseen", async () => {
  const others = ["run-created", "run-started", "step-started", "message-appended", "effect-settled", "step-ended"];
  await using t = await testRuntime({ agents: [talker, writer], intercept: sealing(others) });
  const live: string[] = [];
  const watching = (async () => {
    for await (const event of t.runtime.watch({ types: ["run-ended"] })) {
      live.push(event.type);
      if (live.length === 2) break;
    }
  })();
  for (const each of [talker, writer]) await (await t.runtime.start(each, "Go")).result();
  await watching;
  expect(live).toEqual(["run-ended", "run-ended"]);
  const later = await take((options) => t.runtime.watch({ types: ["run-ended"], agents: ["writer"] }, options));
  expect(later.map(({ type }) => type)).toEqual(["run-ended"]);
  // The seal holds: who wants such an event cannot be shown it.
  await expect(take((options) => t.runtime.watch({ types: ["effect-settled"] }, options))).rejects.toThrow(
    "the payload of effect-settled was read",
  );
});

test("V4 a filter is compiled once, when the watch begins, whatever becomes of its lists", async () => {
  let reads = 0;
  const types: ("run-ended" | "step-started")[] = ["run-ended"];
  const filter: EventFilter = {
    get types() {
      reads += 1;
      return types;
    },
  };
  await using t = await testRuntime({ agents: [talker] });
  const seen: string[] = [];
  const stop = new AbortController();
  const watching = (async () => {
    for await (const event of t.runtime.watch(filter, { signal: stop.signal })) seen.push(event.type);
  })();
  await t.settle();
  const begun = reads;
  types[0] = "step-started";
  for (let n = 0; n < 5; n += 1) await (await t.runtime.start(talker, "Go")).result();
  await t.settle();
  stop.abort();
  await watching;
  expect([begun > 0, reads - begun]).toEqual([true, 0]);
  expect(seen).toEqual(Array.from({ length: 5 }, () => "run-ended"));
});

const calls = { calls: [{ tool: "look", input: {} }] };
const endings: readonly (readonly [string, ReturnType<typeof agent>])[] = [
  ["completed", talker],
  ["failed", agent({ name: "f", model: scripted([{ error: "model-refused" }]), instructions: "" })],
  ["stopped", agent({ name: "s", model: scripted([calls]), instructions: "", tools: [look], budget: { steps: 1 } })],
];

test.each(endings)(
  "R-033 the latest terminal event of a run: none before its end, then the one that ended it as %s",
  async (kind, one) => {
    const gate = Promise.withResolvers<void>();
    const intercept: Intercept = async (call, proceed) => {
      if (call.port === "model") await gate.promise;
      return proceed();
    };
    await using t = await testRuntime({ agents: [one], intercept });
    const run = await t.runtime.start(one, "Go");
    for (let n = 0; n < 20; n += 1) await turn();
    expect(await run.terminalEvent()).toBeUndefined();
    gate.resolve();
    await run.result();
    const event = await run.terminalEvent();
    expect(event).toMatchObject({ type: "run-ended", outcome: { kind } });
    const { cursor: _cursor, ...last } = (await take((options) => run.watch(options))).at(-1) as Durable;
    expect(event).toEqual(last);
    await t.restart();
    expect(await t.runtime.runs.get(run.id).terminalEvent()).toEqual(event);
  },
);

test("R-032, D-30 nobody has to bring a bus: every runtime can be watched", async () => {
  await using runtime = await createRuntime({ agents: [talker] });
  await (await runtime.start(talker, "Go")).result();
  expect((await take((options) => runtime.watch({}, options))).at(-1)?.type).toBe("run-ended");
});

/** Invariant V2, and the checklist's items about streams: what can be watched, and from where. */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { EventFilter } from "../../src/domain/event-filter.ts";
import type { Scope } from "../../src/domain/ids.ts";
import { agent, createRuntime, isHoldfastError, memory } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";
import type { Runtime, WatchOptions } from "../../src/runtime/runtime.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { turn } from "../../src/testing/test-process.ts";
import { testRuntime } from "../../src/testing/test-runtime.ts";
import { type Durable, look, type Stream, take, talker, writer } from "./streams.ts";

const filters: Readonly<Record<string, EventFilter>> = {
  all: {},
  "one agent": { agents: ["talker"] },
  "another agent": { agents: ["writer"] },
  "one thread": { threads: ["t-1"] },
  "ends only": { types: ["run-ended"] },
  "ends of one agent": { types: ["run-ended"], agents: ["talker"] },
};

describe("V2, R-030, R-031, R-034 a cursor belongs to its stream", () => {
  const streams: Record<string, Stream> = {};
  const whole: Record<string, readonly Durable[]> = {};

  beforeAll(async () => {
    const store = memory();
    for (const scope of ["a", "b"]) {
      await using runtime = await createRuntime({ agents: [talker, writer], store, scope });
      const runs: string[] = [];
      for (const each of [talker, writer, talker]) {
        const run = await runtime.start(each, "Go", { thread: `t-${runs.length}` });
        await run.result();
        runs.push(run.id);
      }
      // Read by another process, which has none of the agents: a replay of the journal (D-37).
      const desk = await createRuntime({ store, scope });
      for (const [name, filter] of Object.entries(filters)) {
        streams[`${scope}: ${name}`] = (options) => desk.watch(filter, options);
      }
      for (const [index, id] of runs.entries()) {
        streams[`${scope}: run ${index}`] = (options) => desk.runs.get(id).watch(options);
      }
    }
    for (const [name, stream] of Object.entries(streams)) whole[name] = await take(stream);
  });

  const names = ["a", "b"].flatMap((scope) =>
    [...Object.keys(filters), "run 0", "run 1", "run 2"].map((name) => `${scope}: ${name}`),
  );

  test.each(names)("%s goes on after each of its cursors without gap or duplicate", async (name) => {
    const [stream, events = []] = [streams[name] as Stream, whole[name]];
    expect(events.length).toBeGreaterThan(0);
    for (const [index, { cursor }] of events.entries()) {
      expect(await take(stream, cursor)).toEqual(events.slice(index + 1));
    }
  });

  test.each(names)("%s refuses every cursor of another run, filter or scope", async (name) => {
    for (const other of names.filter((each) => each !== name)) {
      const { cursor = "" } = whole[other]?.at(0) ?? {};
      const refused = await take(streams[name] as Stream, cursor).catch((cause: unknown) => cause);
      expect(isHoldfastError(refused, "invalid-cursor"), `${name} took a cursor of ${other}`).toBe(true);
    }
  });

  test("no stream shows anything of another scope", () => {
    const scopesOf = (scope: string): ReadonlySet<Scope> =>
      new Set(whole[`${scope}: all`]?.flatMap((event) => ("identity" in event ? [event.identity.scope] : [])));
    expect([...scopesOf("a"), ...scopesOf("b")]).toEqual(["a", "b"]);
  });
});

/** While a watcher reads the journal the run goes on, and what it reads was told as well. */
const slowly: Intercept = async (call, proceed) => {
  const isRead = call.method === "readRun" || call.method === "readAll";
  if (isRead || call.port === "model") for (let n = 0; n < (isRead ? 5 : 2); n += 1) await turn();
  return proceed();
};

const steps = Array.from({ length: 6 }, () => ({ calls: [{ tool: "look", input: {} }] }));
const walker = agent({ name: "walker", model: scripted([...steps, "Done."]), instructions: "Walk.", tools: [look] });

test("V2 whoever leaves and comes back with the cursor, at any moment and in any process, has seen what a watcher who stayed has", async () => {
  const stays = fc.array(fc.record({ reads: fc.nat(6), turns: fc.nat(4), dies: fc.boolean() }), { maxLength: 8 });
  const property = fc.asyncProperty(stays, fc.boolean(), async (plan, many) => {
    await using t = await testRuntime({ agents: [walker], intercept: slowly });
    const { id } = await t.runtime.start(walker, "Go");
    const stream = (runtime: Runtime, options: WatchOptions) =>
      many ? runtime.watch({ runs: [id] }, options) : runtime.runs.get(id).watch(options);
    const seen: Durable[] = [];
    let restarts = 0;
    for (const { reads, turns, dies } of [...plan, { reads: Number.POSITIVE_INFINITY, turns: 0, dies: false }]) {
      for (let n = 0; n < turns; n += 1) await turn();
      if (dies && restarts < 2) {
        restarts += 1;
        await t.restart();
      }
      if (seen.at(-1)?.type === "run-ended") break;
      let left = reads;
      for await (const event of stream(t.runtime, { after: seen.at(-1)?.cursor })) {
        if (!("seq" in event)) continue;
        seen.push(event);
        left -= 1;
        if (left <= 0 || event.type === "run-ended") break;
      }
    }
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index + 1));
    const stayed = await take((options) => stream(t.runtime, options));
    expect(seen).toEqual(stayed);
  });
  await fc.assert(property, { numRuns: 40 });
});

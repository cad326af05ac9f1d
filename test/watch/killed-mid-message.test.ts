import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { EffectId, Scope, ThreadId } from "../../src/domain/ids.ts";
import { agent, tool } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { createRandom } from "../../src/testing/sim/random.ts";
import { countingIds, startProcess, type TestProcess, turn } from "../../src/testing/test-process.ts";
import { freshSchemas } from "../scenarios/stores.ts";
import { type Client, durable, follow, newClient, transcript } from "./client.ts";

const leaseMs = 10_000;

const note = tool({
  name: "note",
  description: "Note",
  input: z.object({ n: z.number() }),
  effect: "pure",
  execute: ({ n }) => n,
});

/** No two attempts say the same, so that pieces of one can never pass for pieces of another. */
const teller = agent({
  name: "teller",
  model: scripted([
    ({ attempt }) => ({ text: said(1, attempt), calls: [{ tool: "note", input: { n: 1 } }], pieces: 4 }),
    ({ attempt }) => ({ text: said(2, attempt), calls: [{ tool: "note", input: { n: 2 } }], pieces: 4 }),
    ({ attempt }) => ({ text: said(3, attempt), pieces: 4 }),
  ]),
  instructions: "Tell.",
  tools: [note],
});

function said(step: number, attempt: number): string {
  return `Step ${step}, attempt ${attempt}: once upon a time there was a run that went on.`;
}

/** Kills its process at the n-th piece that the model gives it. */
function killAt(n: number): { readonly intercept: Intercept; readonly arm: (process: TestProcess) => Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let victim: TestProcess | undefined;
  let pieces = 0;
  return {
    arm(process) {
      victim = process;
      return promise;
    },
    async intercept(call, proceed) {
      if (call.port !== "model") return proceed();
      await turn(); // whoever watches has seen the piece before
      pieces += 1;
      if (pieces === n) {
        victim?.kill();
        resolve();
      }
      return proceed();
    },
  };
}

describe("on memory", () => killedOften(200, () => memory()));
describe("on postgres", () => killedOften(16, freshSchemas()));

function killedOften(kills: number, freshStore: () => StoreDefinition): void {
  test(`a worker killed in the middle of a message ${kills} times: the same fold, and every lost attempt retracted`, () =>
    killOften(kills, freshStore));
}

async function killOften(kills: number, freshStore: () => StoreDefinition): Promise<void> {
  const random = createRandom("killed");
  let killed = 0;
  let orphans = 0;
  while (killed < kills) {
    const story = await tellWithKills(freshStore(), () => random.between(1, 40), Math.min(8, kills - killed));
    killed += story.kills;
    orphans += story.lost.length;
    for (const [name, client] of Object.entries(story.clients)) {
      expect(
        durable(client.frames).map(({ seq }) => seq),
        name,
      ).toEqual(story.seqs);
      expect(JSON.stringify(transcript(client.frames)), name).toBe(story.stored);
      expect(client.screen.size, name).toBe(0);
    }
    expect(story.wrongPieces).toEqual([]);
    expect(story.notRetracted).toEqual([]);
  }
  expect(killed).toBe(kills);
  expect(orphans).toBeGreaterThan(kills / 2); // the others had written nothing yet
}

async function tellWithKills(store: StoreDefinition, draw: () => number, most: number) {
  const clock = createFakeClock();
  const ids = countingIds();
  const settings = { leaseMs, pollMs: 5_000, watchPollMs: 5_000, limits: { crashes: 100 } };
  const viewer = await startProcess({ store, agents: [], clock, ids, settings });
  const run = await viewer.runtime.start(teller, "Go", { thread: "t" });
  const far = newClient();
  const near = newClient();
  const watching = follow(far, run.watch());
  let deaths = 0;
  for (let over = false; !over; ) {
    const killer = killAt(deaths < most ? draw() : Number.POSITIVE_INFINITY);
    const worker = await startProcess({ store, agents: [teller], clock, ids, settings, intercept: killer.intercept });
    const gone = killer.arm(worker);
    const after = near.cursor === undefined ? {} : { after: near.cursor };
    const ended = follow(near, worker.runtime.runs.get(run.id).watch(after), gone);
    await worker.quiet();
    if (worker.isDead()) {
      deaths += 1;
      while (worker.storing() > 0) await turn();
      await clock.advance(leaseMs + 1);
    } else {
      await clock.advance(5_001);
      over = true;
    }
    expect(await ended).toBe(over ? "over" : "gone");
  }
  await watching;
  const opened = await store.open({ clock, logger: { warn: () => undefined, note: () => undefined } });
  const messages = await opened.messages({
    scope: "default" as Scope,
    thread: "t" as ThreadId,
    order: "oldest",
    limit: 1_000,
  });
  const head = durable(far.frames).length;
  return {
    kills: deaths,
    clients: { near, far },
    seqs: Array.from({ length: head }, (_, index) => index + 1),
    stored: JSON.stringify(messages.map(({ message }) => message)),
    ...liveOf(near),
  };
}

/** What the client that was always beside the worker saw of attempts, against how they ended. */
function liveOf({ frames }: Client) {
  const shown = new Map<string, string>();
  const retracted = new Set<string>();
  const wrongPieces: string[] = [];
  for (const frame of frames) {
    if (frame.type === "message-retracted") retracted.add(`${frame.run}.${frame.step}.model#${frame.attempt}`);
    if (frame.type !== "text-delta" && frame.type !== "message-partial") continue;
    const name = `${frame.run}.${frame.step}.model#${frame.attempt}`;
    const text = frame.type === "text-delta" ? (shown.get(name) ?? "") + frame.text : frame.text;
    shown.set(name, text);
    if (!said(frame.step, frame.attempt).startsWith(text)) wrongPieces.push(`${name}: ${text}`);
  }
  const lost = durable(frames).flatMap((event) =>
    event.type === "effect-settled" && isModel(event.effect) && event.result.kind !== "done"
      ? [`${event.effect}#${event.attempt}`]
      : [],
  );
  const shownAndLost = lost.filter((name) => shown.has(name));
  return { wrongPieces, lost: shownAndLost, notRetracted: shownAndLost.filter((name) => !retracted.has(name)) };
}

function isModel(effect: EffectId): boolean {
  return effect.endsWith(".model");
}

/** The limits of the engine. */

import { z } from "zod";
import type { EngineLimits } from "../../../src/engine/limits.ts";
import { type Model, tool } from "../../../src/index.ts";
import { aModelThat, callsTool, type StoryModel, says } from "../../../src/testing/story.ts";
import { turn } from "../../../src/testing/test-process.ts";
import { hooking, look } from "./pieces.ts";
import { answerAll, type Play, type Rows, row } from "./told.ts";

type Limits = Partial<EngineLimits>;

function withLimits(limits: Limits, play: Play): Play {
  return { ...play, options: { ...play.options, settings: { limits } } };
}

/** It never answers. */
function silentModel(): StoryModel {
  const { model, saw } = aModelThat();
  const call: Model["call"] = async function* (request, signal) {
    (saw as unknown[]).push(request);
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    yield* [];
  };
  return { model: { ...model, call }, saw };
}

/** So much time passes, then it is cancelled. */
function thenCancelled(ms: number): NonNullable<Play["during"]> {
  return async (story, run) => {
    await story.pass(ms);
    await run.cancel();
    await story.pass(60_000);
    await run.result();
  };
}

const never = (): Promise<never> => new Promise(() => undefined);
const busy = { error: "model-overloaded" } as const;

/** Cancelled while a tool is deaf and a plugin hangs. */
function cancelled(limits: Limits): Play {
  const deaf = tool({ name: "deaf", description: "Hears nothing", input: z.object({}), execute: never });
  const play = { agent: { tools: [deaf] }, answers: [callsTool("deaf")], notes: [] as string[] };
  return withLimits(limits, {
    ...play,
    during: async (story, run) => {
      await story.pass(0);
      await run.cancel();
      await story.pass(1_500);
      play.notes.push((await run.status()).status);
      await story.pass(60_000);
      await run.result();
    },
  });
}

/** A tool that takes its process with it, twice. */
function killedTwice(limits: Limits): Play {
  let kill: (() => void) | undefined;
  const execute = async (): Promise<never> => {
    while (!kill) await turn();
    kill();
    return never();
  };
  const bomb = tool({ name: "bomb", description: "Explodes", input: z.object({}), effect: "pure", execute });
  return withLimits(limits, {
    agent: { tools: [bomb] },
    answers: [callsTool("bomb")],
    during: async (story) => {
      kill = () => story.t.process.kill();
      for (const _life of [1, 2, 3]) {
        await story.pass(0);
        await story.restart();
      }
    },
  });
}

function hanging(limits: Limits): Play {
  return withLimits(limits, {
    agent: { plugins: [hooking({ "before-step": never })] },
    during: thenCancelled(2_000),
  });
}

function asking(limits: Limits, attempts: readonly (typeof busy | string)[]): Play {
  return withLimits(limits, {
    answers: [{ attempts }],
    during: async (story, run) => {
      for (let minute = 0; minute < 10; minute += 1) await story.pass(60_000);
      await answerAll(story, run);
    },
  });
}

function retrying(limits: Limits): Play {
  const plugins = [
    hooking({ "after-tool": ({ call }) => (call.attempt > 3 ? [] : { type: "retry", reason: "Again" }) }),
  ];
  return withLimits(limits, { agent: { tools: [look], plugins }, answers: [callsTool("look"), says("Done.")] });
}

/** Snapshots are no part of a journal: they are seen on their way to the store. */
function snapshots(limits: Limits): Play {
  const notes: string[] = [];
  return {
    answers: [callsTool("look"), says("Done.")],
    agent: { tools: [look] },
    notes,
    options: {
      settings: { limits },
      intercept: (call, proceed) => {
        if (call.method === "saveSnapshot") notes.push("a snapshot");
        return proceed();
      },
    },
  };
}

const looks = [1, 2, 3].map((at) => callsTool("look", { at }));
const pause = { error: "model-rate-limited", retryAfterMs: 5_000 } as const;

export const limitRows: Rows = {
  "limits.modelTimeoutMs": row(
    (limits: Limits) => withLimits(limits, { model: silentModel(), during: thenCancelled(2_000) }),
    {},
    { modelTimeoutMs: 1_000 },
  ),
  "limits.modelIdleMs": row(
    (limits: Limits) => withLimits(limits, { model: silentModel(), during: thenCancelled(2_000) }),
    {},
    { modelIdleMs: 1_000 },
  ),
  "limits.modelAttempts": row((limits: Limits) => asking(limits, [busy, busy, "Done."]), {}, { modelAttempts: 2 }),
  "limits.callAttempts": row(retrying, {}, { callAttempts: 2 }),
  "limits.phaseTimeoutMs": row(hanging, {}, { phaseTimeoutMs: 1_000 }),
  "limits.graceMs": row(cancelled, {}, { graceMs: 1_000 }),
  "limits.parkAfterMs": row((limits: Limits) => asking(limits, [pause as never, "Done."]), {}, { parkAfterMs: 10_000 }),
  "limits.crashes": row(killedTwice, {}, { crashes: 1 }),
  "limits.window": row(
    (limits: Limits) => withLimits(limits, { agent: { tools: [look] }, answers: [...looks, says("Done.")] }),
    {},
    { window: 2 },
  ),
  "limits.snapshotEvery": row(snapshots, {}, { snapshotEvery: 3 }),
  "limits.inlineBytes": { elsewhere: "test/content/large-results.test.ts" },
  "limits.contentBytes": { elsewhere: "test/content/large-results.test.ts" },
  "limits.previewBytes": { elsewhere: "test/content/large-results.test.ts" },
  "limits.unservedMs": { elsewhere: "test/workers/unserved.test.ts" },
};

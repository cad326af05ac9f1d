/**
 * The world outside: what really happened, however the processes fared. An effect that has been asked for lands within
 * its tool's timeout even when the asker is dead by then; nothing lands after its attempt has thrown.
 */
import { ToolFailure } from "../../domain/errors.ts";
import type { Reconciled, ToolContext } from "../../domain/tool.ts";
import type { ModelRequest } from "../../ports/provider.ts";
import type { Random } from "./random.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import { type SimInput, type ToolName, type ToolWorld, toolTimeoutMs } from "./sim-tools.ts";

/** A tool's code was called. */
export interface Asked {
  readonly tool: ToolName;
  readonly key: string;
  readonly run: string;
  readonly call: string;
  readonly attempt: number;
  readonly input: SimInput;
  readonly decision: ToolContext["decision"];
  readonly at: number;
}

/** It took effect. */
export type Landed = Asked;

export interface World extends ToolWorld {
  readonly asked: readonly Asked[];
  readonly landed: readonly Landed[];
  modelAsked(request: ModelRequest): void;
}

/** Looked at in the moment it happens, so that "before" can be told from "after". */
export interface WorldWatcher {
  asked(asked: Asked): void;
  landed(landed: Landed): void;
  modelAsked(request: ModelRequest): void;
}

const never: Promise<never> = new Promise(() => undefined);

/** All at once: nobody who watches can keep up with it. */
function speak({ report }: ToolContext, { reports = 0 }: SimInput): void {
  for (let word = 0; word < reports / 2; word += 1) report(word);
}

export function createWorld(deps: {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly watcher: WorldWatcher;
}): World {
  const { scheduler, random, watcher } = deps;
  const owner: Owner = { name: "world", alive: true, frozenUntil: 0 };
  const asked: Asked[] = [];
  const landed: Landed[] = [];

  function wait(what: string, ms: number): Promise<void> {
    return scheduler.turn(owner, what, ms);
  }

  function land(what: Asked): void {
    const now: Landed = { ...what, at: scheduler.now() };
    landed.push(now);
    watcher.landed(now);
  }

  async function answer(what: Asked): Promise<unknown> {
    const { tool, input } = what;
    switch (input.act) {
      case "slow":
        await wait(`${tool} is slow`, toolTimeoutMs + random.int(600));
        return { done: input.n };
      case "hang":
        return never;
      case "throw-after":
        await wait(`${tool} fails after its effect`, random.int(40));
        throw new Error("The connection was lost");
      case "bad-result":
        return { done: () => input.n };
      default:
        await wait(`${tool} answers`, random.int(60));
        return { done: input.n };
    }
  }

  return {
    asked,
    landed,
    modelAsked: (request) => watcher.modelAsked(request),
    async execute(tool, input, context) {
      const { idempotencyKey: key, runId: run, callId: call, attempt, decision, signal } = context;
      const what: Asked = { tool, key, run, call, attempt, input, decision, at: scheduler.now() };
      asked.push(what);
      watcher.asked(what);
      speak(context, input);
      const polite = random.chance(0.7);
      await wait(`${tool} ${input.n} works`, random.chance(0.7) ? random.int(30) : random.int(toolTimeoutMs));
      if (polite && signal.aborted) throw new Error("The call was aborted");
      if (scheduler.now() >= what.at + toolTimeoutMs) throw new Error("The receiver takes nothing so late");
      if (input.act === "refuse") throw new ToolFailure("The receiver refuses");
      if (input.act === "throw-before") throw new Error("The receiver could not be reached");
      land(what);
      speak(context, input);
      return answer(what);
    },
    async reconcile(tool, key): Promise<Reconciled> {
      await wait(`${tool} is asked about ${key.slice(0, 6)}`, random.int(30));
      if (random.chance(0.1)) return { status: "unknown" };
      if (random.chance(0.05)) throw new Error("The receiver could not be asked");
      const found = landed.find((each) => each.tool === tool && each.key === key);
      return found ? { status: "done", result: { done: found.input.n } } : { status: "not-done" };
    },
    async judge(input) {
      await wait(`the rule for ${input.n} is looked up`, random.chance(0.9) ? random.int(40) : 400);
      return input.n % 2 === 1;
    },
  };
}

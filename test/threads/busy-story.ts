/** A thread whose first run stands somewhere, with one run queued behind it, and the ways to bring it to its end. */
import { z } from "zod";
import { textOf } from "../../src/domain/message.ts";
import { type Tool, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import type { Store, StoreDefinition } from "../../src/ports/store.ts";
import { type ScriptedAnswer, scripted } from "../../src/providers/scripted.ts";
import type { Run } from "../../src/runtime/runtime.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { anAgentWith, callsTool, given, type Story, type StoryModel } from "../../src/testing/story.ts";
import { silentLogger, turn } from "../../src/testing/test-process.ts";
import { aGate } from "../scenarios/moments.ts";
import { callsUnderWay } from "../scenarios/stores.ts";
import type { Choice, RunStands } from "./busy-table.ts";

const nothing = z.object({});
const anHour = 3_600_000;
const enoughTurns = 2_000;

export interface Busy extends AsyncDisposable {
  readonly story: Story;
  readonly store: Store;
  /** The thread's run. */
  readonly first: Run;
  /** Queued behind it before anything else happens. */
  readonly second: Run;
  /** The message of the cell, always with the same key. */
  next(choice: Choice, key?: string): Promise<Run>;
  /** Lets the first run go on from where it stands. */
  goOn(): Promise<void>;
  /** Kills the process; another one is there, even if it hangs where the last one did. */
  restart(): Promise<void>;
}

export interface BusyOptions {
  readonly store: StoreDefinition;
  readonly intercept?: Intercept;
}

export async function aBusyThread(stands: RunStands, options: BusyOptions): Promise<Busy> {
  const gate = aGate();
  let held = stands === "created" || stands === "pause";
  const tools = theTools(gate.opened);
  const model = aModel(stands, gate.opened);
  const intercept: Intercept = (call, proceed) => {
    if (held && call.method === "claim") return Promise.resolve([]) as never;
    return options.intercept ? options.intercept(call, proceed) : proceed();
  };
  const settings = stands === "quarantined" ? { settings: { limits: { crashes: 2 } } } : {};
  const story = await given(anAgentWith(...tools), model, { store: options.store, intercept, ...settings });
  const store = await options.store.open({ clock: story.t.clock, logger: silentLogger });
  const restarts: Promise<void>[] = [];

  async function restart(): Promise<void> {
    const dead = story.t.process;
    restarts.push(story.restart());
    await until(() => story.t.process !== dead);
  }

  async function letGo(): Promise<void> {
    held = false;
    await story.pass("1m");
  }

  const first = await story.userSays("first", { thread: "t", key: "first" });
  await standStill(stands, { story, first, model, restart, letGo });
  const second = await story.userSays("second", { thread: "t", key: "second", whenBusy: "queue" });
  return {
    story,
    store,
    first,
    second,
    restart,
    next: (choice, key = "next") =>
      story.userSays("next", {
        thread: "t",
        key,
        by: "ben",
        ...(choice === "default" ? {} : { whenBusy: choice }),
      }),
    async goOn() {
      gate.open();
      if (held) await letGo();
      await release(stands, { story, first });
    },
    async [Symbol.asyncDispose]() {
      gate.open();
      await store.close();
      await story.close();
      await Promise.all(restarts);
    },
  };
}

function theTools(opened: Promise<void>): readonly Tool[] {
  const about = { description: "A tool", input: nothing };
  const work = tool({
    ...about,
    name: "work",
    effect: "pure",
    execute: (_input, { signal }) => openedOrAborted(opened, signal).then(() => "worked"),
  });
  const guarded = tool({ ...about, name: "guarded", needsApproval: true, execute: () => "ran" });
  const question = tool({ ...about, name: "question" });
  const vague = tool({
    ...about,
    name: "vague",
    execute: () => {
      throw new Error("Who knows");
    },
  });
  return [work, guarded, question, vague];
}

const opening: Readonly<Record<RunStands, ScriptedAnswer>> = {
  created: "Begun.",
  model: { text: "Begun.", delayMs: 1 },
  tool: callsTool("work"),
  approval: callsTool("guarded"),
  input: callsTool("question"),
  "unknown-outcome": callsTool("vague"),
  pause: "Begun.",
  timer: { attempts: [{ error: "model-rate-limited", retryAfterMs: anHour }, "Begun."] },
  quarantined: { attempts: [{ text: "Begun.", delayMs: 1 }] },
};

/** Begins as the table says, and then repeats everything that people have said. */
function aModel(stands: RunStands, opened: Promise<void>): StoryModel & { readonly saw: ModelRequest[] } {
  const saw: ModelRequest[] = [];
  const answer = (request: ModelRequest): ScriptedAnswer => {
    saw.push(request);
    const last = request.messages.at(-1);
    return last?.role === "user" && textOf(last) === "first" ? opening[stands] : heard(request);
  };
  const steps = Array.from({ length: 8 }, () => answer);
  return { model: scripted(steps, { sleep: (_ms, signal) => openedOrAborted(opened, signal) }), saw };
}

function heard({ messages }: ModelRequest): string {
  const said = messages.filter(({ role }) => role === "user").map(textOf);
  const results = messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === "tool-result" && part.result.kind === "value" ? [String(part.result.value)] : [],
    ),
  );
  return `Heard ${[...said, ...results].join(", ")}.`;
}

function openedOrAborted(opened: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("I was aborted")), { once: true });
    opened.then(resolve, reject);
  });
}

interface Stage {
  readonly story: Story;
  readonly first: Run;
}

interface Standing extends Stage {
  readonly model: StoryModel;
  readonly restart: () => Promise<void>;
  readonly letGo: () => Promise<void>;
}

async function standStill(stands: RunStands, stage: Standing): Promise<void> {
  const { story, first, model, restart, letGo } = stage;
  switch (stands) {
    case "created":
      return;
    case "model":
      return until(() => model.saw.length > 0);
    case "tool":
      return until(async () =>
        (await story.journal(first)).some((entry) => entry.type === "effect-intended" && entry.kind === "tool"),
      );
    case "pause":
      await first.pause({ by: "ana" });
      await letGo();
      break;
    case "quarantined":
      for (const deaths of [1, 2]) {
        await until(() => model.saw.length >= deaths);
        await restart();
      }
      break;
    default:
  }
  await story.expectWaitingFor(first, stands);
}

async function release(stands: RunStands, { story, first }: Stage): Promise<void> {
  switch (stands) {
    case "created":
    case "model":
    case "tool":
      return;
    case "timer":
      return story.pass("2h");
    default: {
      const ticket = await story.expectWaitingFor(first, stands);
      if (ticket.kind === "approval") await ticket.approve();
      if (ticket.kind === "input") await ticket.answer("answered");
      if (ticket.kind === "unknown-outcome") await ticket.markDone("done");
      if (ticket.kind === "pause" || ticket.kind === "quarantined") await ticket.release();
    }
  }
}

export async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; turns < enoughTurns; turns = callsUnderWay() > 0 ? 0 : turns + 1) {
    if (await check()) return;
    await turn();
  }
  throw new Error("It never came to that");
}

/** Checks in the moment something happens outside: a tool's code is called, an effect lands, a hint is published. */
import type { EffectIntended, EntryStamp } from "../../domain/entry.ts";
import type { CallId, RunId } from "../../domain/ids.ts";
import type { Hint } from "../../ports/bus.ts";
import { onceTools } from "./sim-tools.ts";
import type { Report } from "./violations.ts";
import { answersOf, type Watch, type WatchedRun } from "./watch.ts";
import type { Asked, Landed, WorldWatcher } from "./world.ts";

export interface WorldChecks extends WorldWatcher {
  published(hint: Hint): void;
}

export function createWorldChecks(watch: () => Watch, report: Report): WorldChecks {
  const landings = new Map<string, Landed>();
  const starts = new Map<string, number>();

  function intentOf({ run, call, attempt }: Asked): (EntryStamp & EffectIntended) | undefined {
    const open = [
      ...(watch()
        .runs.get(run as RunId)
        ?.open.values() ?? []),
    ];
    return open.find((each) => each.call === call && each.attempt === attempt);
  }

  return {
    asked(asked) {
      const what = `${asked.tool} of call ${asked.call}, attempt ${asked.attempt}`;
      const intent = intentOf(asked);
      if (!intent) return report("intent-before-effect", `${what} is made and not intended`);
      if (intent.key !== asked.key) report("key-stable", `${what} is made with another key than intended`);
      if (asked.at >= intent.startBy) report("late-start", `${what} is made after its startBy`);
      const count = (starts.get(asked.key) ?? 0) + 1;
      starts.set(asked.key, count);
      const reconciles = asked.tool === "pay";
      if (count > 1 && onceTools.includes(asked.tool) && !reconciles) report("once-effects", `${what} is made again`);
      const run = watch().runs.get(asked.run as RunId);
      if (run) checkObeyed(asked, run, report);
    },
    landed(landed) {
      const first = landings.get(landed.key);
      const what = `${landed.tool} of call ${landed.call}, attempt ${landed.attempt}`;
      if (!first) landings.set(landed.key, landed);
      else if (onceTools.includes(landed.tool)) report("once-effects", `${what} lands twice`);
      else if (!same(first.input, landed.input)) report("same-key-same-input", `${what} lands with another input`);
      if (
        watch()
          .runs.get(landed.run as RunId)
          ?.refusedKeys.has(landed.key)
      ) {
        report("refused-means-nothing", `${what} lands after the journal said that nothing happened`);
      }
    },
    modelAsked({ agent, step, attempt }) {
      const intents = watch()
        .byAgent(agent)
        .flatMap((run) => [...run.open.values()]);
      const open = intents.some((each) => each.kind === "model" && each.step === step && each.attempt === attempt);
      if (!open) report("intent-before-effect", `the model of ${agent} is called for step ${step}, attempt ${attempt}`);
    },
    published({ run, seq }) {
      const head = watch().runs.get(run)?.row.head ?? 0;
      if (seq > head) report("event-before-commit", `${run} is told of ${seq}, its journal ends at ${head}`);
    },
  };
}

/** The last answer is what the call does: the input that was shown, or the edit in its place. */
function checkObeyed(asked: Asked, run: WatchedRun, report: Report): void {
  const last = answersOf(run, asked.call as CallId).at(-1);
  const decision = last?.decided?.decision;
  const shown = last?.ticket.call?.input ?? run.calls.get(asked.call as CallId)?.input;
  const wanted = decision?.kind === "edit" ? decision.input : shown;
  const what = `${asked.tool} of call ${asked.call}`;
  if (!same(wanted, asked.input))
    report("decision-obeyed", `${what} runs with ${show(asked.input)}, not ${show(wanted)}`);
  if (asked.tool === "form" && !same(asked.decision?.decision, decision)) {
    report("decision-obeyed", `${what} is given ${show(asked.decision)}, the journal says ${show(decision)}`);
  }
}

function same(a: unknown, b: unknown): boolean {
  return show(a) === show(b);
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}

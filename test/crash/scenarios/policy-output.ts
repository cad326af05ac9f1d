/** An answer that a policy holds back: cut anywhere, the same verdict counts, and what was withheld stays so. */
import { z } from "zod";
import { type Agent, agent, type PolicyOptions, policy } from "../../../src/index.ts";
import { type ScriptedAnswer, scripted } from "../../../src/providers/scripted.ts";
import type { CrashScenario } from "../../../src/testing/crash-scenario.ts";
import { answerAll, begin, key, scenario } from "./pieces.ts";

const note = z.object({ note: z.string() });

function guarded(output: PolicyOptions["output"], ...answers: readonly ScriptedAnswer[]): Agent<unknown> {
  const house = policy({ name: "house", ...(output ? { output } : {}) });
  return agent({
    name: "clerk",
    model: scripted(answers),
    instructions: "Be brief.",
    policy: house,
    output: note,
    repairs: 1,
  }) as Agent<unknown>;
}

const asJson = (text: string): string => JSON.stringify({ note: text });

export const policyOutputs: readonly CrashScenario[] = [
  scenario({
    name: "an answer that its policy changes, after one that did not fit",
    agents: () => [guarded(async () => ({ modify: { note: "told" } }), "not JSON", asJson("secret"))],
  }),
  scenario({
    name: "an answer that its policy denies",
    agents: () => [guarded(async () => ({ deny: "names", code: "pii" }), asJson("secret"))],
  }),
  scenario({
    name: "an answer that a person lets out",
    agents: () => [guarded(() => ({ ask: "May it say so?" }), asJson("secret"))],
    script: async (context) => {
      const run = await begin(context);
      await answerAll(run, (ticket) => {
        if (ticket.kind === "quarantined") return ticket.release(key(ticket)); // its policy could not be created
        return ticket.kind === "approval" ? ticket.approve(key(ticket)) : undefined;
      });
    },
  }),
];

/** One command of each type, and what must be seen of it. A new type without both does not compile. */
import { expect } from "vitest";
import { foldAll } from "../../../src/domain/apply.ts";
import type { Command, CommandType } from "../../../src/domain/command.ts";
import type { Phase } from "../../../src/domain/phase.ts";
import type { ModelRequest } from "../../../src/ports/provider.ts";
import { momentsIn, resultsIn } from "./journal.ts";
import { type AnyView, answer, mark, otherRun, type Played } from "./world.ts";

export interface Sample {
  readonly command: (view: AnyView) => Command;
  readonly isSeen: (played: Played, phase: Phase) => void;
  /** Said only in this step; the first time it is asked unless said. */
  readonly inStep?: number;
}

/** Model calls that were made when a run first meets the phase, and whether its tool has run by then. */
export const progressAt: Readonly<Record<Phase, { readonly requests: number; readonly executed: number }>> = {
  "before-run": { requests: 0, executed: 0 },
  "before-step": { requests: 0, executed: 0 },
  "context-ready": { requests: 0, executed: 0 },
  "before-model": { requests: 0, executed: 0 },
  "model-delta": { requests: 2, executed: 1 },
  "output-gate": { requests: 2, executed: 1 },
  "after-model": { requests: 1, executed: 0 },
  "tool-gate": { requests: 1, executed: 0 },
  "before-tool": { requests: 1, executed: 0 },
  "after-tool": { requests: 1, executed: 1 },
  "after-step": { requests: 1, executed: 1 },
  "before-end": { requests: 2, executed: 1 },
  "after-run": { requests: 2, executed: 1 },
  "on-decision": { requests: 1, executed: 0 },
  "on-cancel": { requests: 1, executed: 0 },
};

const only = (command: Command): Pick<Sample, "command"> => ({ command: () => command });

export const samples: Readonly<Record<CommandType, Sample>> = {
  "set-state": {
    ...only(mark.set("marked")),
    isSeen: ({ journal }) => {
      expect(foldAll(journal).slots[mark.name]).toMatchObject({ value: "marked" });
      expect(journal.filter((entry) => entry.type === "state-changed")).toHaveLength(1);
    },
  },
  "add-context": {
    ...only({ type: "add-context", key: "hint", text: "Mind the gap." }),
    isSeen: ({ requests }, phase) => {
      const { requests: before } = progressAt[phase];
      const told = requests.map(({ instructions }) => instructions);
      expect(told).toEqual(told.map((_, index) => (index === before ? "Act.\n\nMind the gap." : "Act.")));
      expect(told.length).toBeGreaterThan(before);
    },
  },
  "hide-tools": {
    ...only({ type: "hide-tools", tools: ["work"] }),
    isSeen: isOffered(["guarded"]),
  },
  "restrict-tools": {
    ...only({ type: "restrict-tools", tools: ["guarded", "nobody"] }),
    isSeen: isOffered(["guarded"]),
  },
  "patch-request": {
    ...only({ type: "patch-request", instructions: "Act well.", settings: { temperature: 0.5 } }),
    isSeen: ({ requests }) => {
      expect(requests[0]).toMatchObject({ instructions: "Act well.", settings: { temperature: 0.5 } });
      expect(requests[1]).toMatchObject({ instructions: "Act." });
      expect(requests[1]).not.toHaveProperty("settings");
    },
  },
  deny: {
    ...only({ type: "deny", reason: "Not today." }),
    isSeen: isAnsweredBy({ kind: "error", code: "denied", message: "Not today." }),
  },
  ask: {
    ...only({ type: "ask", prompt: "May it work?" }),
    isSeen: (played, phase) => {
      expect(played.waits).toMatchObject([{ ticket: { kind: "approval", tool: "work", prompt: "May it work?" } }]);
      expect(played.waits[0]).toMatchObject(progressAt[phase]);
      expect(played.executed).toEqual([{ n: 1 }]);
    },
  },
  "set-result": {
    ...only({ type: "set-result", value: { known: true }, say: "It is known." }),
    isSeen: isAnsweredBy({ kind: "value", value: { known: true }, say: "It is known." }),
  },
  "patch-input": {
    ...only({ type: "patch-input", input: { n: 2 } }),
    isSeen: ({ executed }) => expect(executed).toEqual([{ n: 2 }]),
  },
  "rewrite-result": {
    ...only({ type: "rewrite-result", value: "rewritten", say: "Read this." }),
    isSeen: ({ journal, executed, requests }) => {
      expect(executed).toHaveLength(1);
      expect(resultsIn(journal)).toEqual([{ kind: "value", value: "rewritten", say: "Read this." }]);
      expect(JSON.stringify(requests)).not.toContain(answer);
    },
  },
  "rewrite-output": {
    ...only({ type: "rewrite-output", text: "Rewritten." }),
    isSeen: ({ journal, result, requests }) => {
      expect(result).toMatchObject({ outcome: "completed", output: "Rewritten." });
      expect(JSON.stringify(journal.at(-1))).not.toContain("Done.");
      expect(journal.filter(isAnswer)).toMatchObject([{ body: { message: { parts: [{ text: "Rewritten." }] } } }]);
      expect(requests).toHaveLength(2);
    },
  },
  retry: {
    ...only({ type: "retry", reason: "Once more." }),
    isSeen: (played, phase) => {
      if (phase === "after-tool") {
        expect(played.executed).toHaveLength(2);
        expect(resultsIn(played.journal)).toEqual([{ kind: "value", value: answer }]);
      } else {
        expect(played.executed).toHaveLength(0);
        expect(resultsIn(played.journal)).toMatchObject([{ code: "not-run" }]);
        expect(lastWords(played.requests[1])).toBe("Once more.");
      }
      expect(played.result).toMatchObject({ outcome: "completed", output: "Done." });
    },
  },
  stop: {
    ...only({ type: "stop", code: "enough", detail: "It is enough." }),
    isSeen: ({ result, requests, executed }, phase) => {
      expect(result).toMatchObject({ outcome: "stopped", code: "enough", detail: "It is enough." });
      expect({ requests: requests.length, executed: executed.length }).toEqual(progressAt[phase]);
    },
  },
  continue: {
    ...only({ type: "continue", message: "Go on." }),
    inStep: 2, // of which the run would have ended
    isSeen: ({ requests, result }) => {
      expect(requests).toHaveLength(3);
      expect(lastWords(requests[2])).toBe("Go on.");
      expect(result).toMatchObject({ outcome: "completed", output: "Done again." });
    },
  },
  schedule: {
    ...only({ type: "schedule", phase: "before-end", command: mark.set("in time") }),
    isSeen: ({ journal }) => {
      const [changed, ...more] = journal.filter((entry) => entry.type === "state-changed");
      expect(changed).toMatchObject({ key: mark.name, change: { value: "in time" }, by: "probe" });
      expect(more).toEqual([]);
      const end = momentsIn(journal).findLast((moment) => moment.phase === "before-end");
      expect(end?.seq).toBe((changed?.seq ?? 0) + 1);
    },
  },
  "open-ticket": {
    ...only({ type: "open-ticket", name: "leave", prompt: "Is it well?" }),
    isSeen: ({ waits, result }, phase) => {
      const asked = waits.filter(({ ticket }) => ticket.prompt === "Is it well?");
      expect(asked).toMatchObject([{ ticket: { kind: "input", name: "leave", plugin: "probe" } }]);
      expect(asked[0]).toMatchObject(progressAt[phase]); // nothing more began before it was answered
      expect(result.outcome).toBe("completed");
    },
  },
  "send-input": {
    command: (view) => ({ type: "send-input", run: otherRun(view), message: "Psst." }),
    isSeen: ({ heard }) => {
      const inputs = heard.filter((entry) => entry.type === "input-received");
      expect(inputs).toMatchObject([{ message: { parts: [{ type: "text", text: "Psst." }] } }]);
      expect(inputs[0]).toMatchObject({ by: expect.stringMatching(/^plugin probe of run /) });
    },
  },
};

/** In the first step only; a model that calls what it was not shown is told so. */
function isOffered(names: readonly string[]): Sample["isSeen"] {
  return ({ requests, executed, journal }) => {
    expect(requests.map(toolsOf)).toEqual([names, ["guarded", "work"]]);
    expect(executed).toEqual([]);
    expect(resultsIn(journal)).toMatchObject([{ code: "unknown-tool" }]);
  };
}

/** A message of the model's that asks for nothing. */
function isAnswer(entry: Played["journal"][number]): boolean {
  if (entry.type !== "message-appended" || entry.body.kind !== "here") return false;
  const { role, parts } = entry.body.message;
  return role === "assistant" && !parts.some(({ type }) => type === "tool-call");
}

function toolsOf({ tools }: ModelRequest): readonly string[] {
  return tools.map(({ name }) => name).sort();
}

/** Its code did not run; the model reads this. */
function isAnsweredBy(result: unknown): Sample["isSeen"] {
  return ({ journal, executed, requests }) => {
    expect(executed).toEqual([]);
    expect(resultsIn(journal)).toEqual([result]);
    expect(requests).toHaveLength(2);
  };
}

function lastWords(request: ModelRequest | undefined): unknown {
  const [part] = request?.messages.at(-1)?.parts ?? [];
  return part?.type === "text" ? part.text : part;
}

/** In every phase: hooks are called by registration, and what they say is merged by registration, whatever ends first (G1, G2). */
import { describe, expect, test } from "vitest";
import type { Command } from "../../../src/domain/command.ts";
import { type Phase, phases } from "../../../src/domain/phase.ts";
import type { ConfiguredPlugin } from "../../../src/domain/plugin.ts";
import { isAllowed } from "../../../src/engine/phases.ts";
import { turn } from "../../../src/testing/test-process.ts";
import { resultsIn } from "./journal.ts";
import { type AnyView, mark, play, pluginOf, total } from "./world.ts";

const names = ["zoe", "ben", "amy"] as const; // not in the order of their letters

/** How many turns each takes to answer; none: at once. */
const paces: Readonly<Record<string, readonly (number | undefined)[]>> = {
  "all at once": [undefined, undefined, undefined],
  "the last one first": [3, 2, 1],
  "the first one later": [2, undefined, undefined],
  "the middle one later": [undefined, 2, undefined],
};

async function later(turns: number, commands: readonly Command[]): Promise<readonly Command[]> {
  for (let left = turns; left > 0; left -= 1) await turn();
  return commands;
}

/** Three plugins that each speak once about the first moment of the phase, and again when they are asked again about it. */
function three(
  phase: Phase,
  pace: readonly (number | undefined)[],
  says: (name: string, view: AnyView) => readonly Command[],
): { readonly called: readonly string[]; readonly plugins: readonly ConfiguredPlugin[] } {
  const called: string[] = [];
  const first = { step: -1 };
  const plugins = names.map((name, index) =>
    pluginOf(
      {
        [phase]: (view: AnyView) => {
          if (first.step < 0) first.step = view.step;
          if (view.step !== first.step) return undefined;
          called.push(name);
          const turns = pace[index];
          const commands = says(name, view);
          return turns === undefined ? commands : later(turns, commands);
        },
      },
      name,
    ),
  );
  return { called, plugins };
}

const stateful = phases.filter((phase) => isAllowed("set-state", phase));

describe.each(Object.entries(paces))("%s", (_name, pace) => {
  test.each(stateful)("in %s they are called and merged by registration", async (phase) => {
    const { called, plugins } = three(phase, pace, (name) => [total.update(names.indexOf(name as "zoe") + 1)]);
    const { journal } = await play(phase, ...plugins);
    expect(called).toEqual(names);
    const changes = journal.filter((entry) => entry.type === "state-changed");
    expect(changes.map(({ by, change }) => [by, "operand" in change && change.operand])).toEqual(
      names.map((name, index) => [name, index + 1]),
    );
    const seqs = changes.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_seq, index) => (seqs[0] ?? 0) + index)); // one moment, one commit
  });

  test.each(stateful)(
    "in %s the losers of an exclusive key are asked again in turn, on what was merged",
    async (phase) => {
      const { called, plugins } = three(phase, pace, (name, view) => [mark.set(`${view.state.get(mark)} ${name}`)]);
      const { journal } = await play(phase, ...plugins);
      expect(called).toEqual([...names, "ben", "amy"]);
      const changes = journal.filter((entry) => entry.type === "state-changed");
      expect(changes.map(({ change }) => "value" in change && change.value)).toEqual([
        "unmarked zoe",
        "unmarked zoe ben",
        "unmarked zoe ben amy",
      ]);
    },
  );

  test("in tool-gate the strictest counts, of equals the first by registration", async () => {
    const denied = three("tool-gate", pace, (name) => [{ type: "deny", reason: `${name} says no` }]);
    const { journal } = await play("tool-gate", ...denied.plugins);
    expect(denied.called).toEqual(names);
    expect(resultsIn(journal)).toMatchObject([{ code: "denied", message: "zoe says no" }]);

    const mixed = three("tool-gate", pace, (name) => {
      if (name === "zoe") return [{ type: "set-result", value: "known" }];
      return name === "ben" ? [{ type: "ask", prompt: "May it?" }] : [{ type: "deny", reason: "amy says no" }];
    });
    const { journal: strict, waits } = await play("tool-gate", ...mixed.plugins);
    expect(resultsIn(strict)).toMatchObject([{ code: "denied", message: "amy says no" }]);
    expect(waits).toEqual([]);
  });

  test("in tool-gate each change of the input is made on the last one", async () => {
    const { called, plugins } = three("tool-gate", pace, (_name, view) => [
      { type: "patch-input", input: { n: (view.call?.input.n ?? 0) * 10 } },
    ]);
    const { executed } = await play("tool-gate", ...plugins);
    expect(called.slice(0, 5)).toEqual([...names, "ben", "amy"]);
    expect(executed).toEqual([{ n: 1_000 }]); // all have judged that as well; what they changed of it was not taken
  });

  test.each(["model-delta", "after-run"] as const)("in %s they are called by registration", async (phase) => {
    const { called, plugins } = three(phase, pace, () => []);
    await play(phase, ...plugins);
    expect(called.slice(0, 3)).toEqual(names);
  });
});

test("hooks of one plugin are called in the order in which they were given", async () => {
  const called: number[] = [];
  const hooks = [1, 2, 3].map((place) => () => {
    called.push(place);
    return total.update(place);
  });
  const { journal } = await play("before-run", pluginOf({ "before-run": hooks }));
  expect(called).toEqual([1, 2, 3]);
  const changes = journal.filter((entry) => entry.type === "state-changed");
  expect(changes.map(({ change }) => "operand" in change && change.operand)).toEqual([1, 2, 3]);
});

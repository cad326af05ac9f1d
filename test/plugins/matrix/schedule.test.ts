/** The same matrix for commands that are scheduled: applied once, in their phase, also where no plugin has a hook. */
import { describe, expect, test } from "vitest";
import { foldAll } from "../../../src/domain/apply.ts";
import type { Command, CommandType } from "../../../src/domain/command.ts";
import { commandTypes } from "../../../src/domain/command-shape.ts";
import { type Phase, phases } from "../../../src/domain/phase.ts";
import type { ConfiguredPlugin } from "../../../src/domain/plugin.ts";
import { isAllowed } from "../../../src/engine/phases.ts";
import { expectFailure } from "./failure.ts";
import { momentsIn } from "./journal.ts";
import { samples } from "./samples.ts";
import { type AnyView, mark, type Played, play, pluginOf, saysOnce } from "./world.ts";

/** Why it cannot be scheduled, if it cannot. */
function refusal(type: CommandType, phase: Phase): string | undefined {
  if (type === "schedule") return "a schedule cannot be scheduled";
  if (phase === "tool-gate" || phase === "output-gate") return `verdicts of ${phase} cannot be given ahead`;
  if (phase === "before-run") return "before-run does not come again";
  return isAllowed(type, phase) ? undefined : `${type} is not allowed in ${phase}`;
}

/** What is said to a run that ends is heard by nobody, so it has to go on. */
function commandsFor(type: CommandType, phase: Phase, view: AnyView): readonly Command[] {
  const command = samples[type].command(view);
  const goesOn: Command = { type: "continue", message: "Go on." };
  return phase === "before-end" && type === "add-context" ? [goesOn, command] : [command];
}

function scheduler(type: CommandType, phase: Phase): ConfiguredPlugin {
  const says = (view: AnyView): readonly Command[] =>
    commandsFor(type, phase, view).map((command) => ({ type: "schedule", phase, command }));
  const { inStep } = samples[type];
  return pluginOf({ [inStep === undefined ? "before-run" : "before-step"]: saysOnce(says, "sync", inStep) });
}

function expectOnce({ journal }: Played, type: CommandType, phase: Phase): void {
  const moments = momentsIn(journal).filter((moment) => moment.phase === phase);
  if (type === "set-state") {
    const changes = journal.filter((entry) => entry.type === "state-changed");
    expect(changes.map(({ seq }) => seq + 1)).toEqual([moments[0]?.seq]);
  } else {
    const said = moments.flatMap(({ commands }) => commands.map(({ command }) => command.type));
    expect(said.filter((each) => each === type)).toEqual([type]);
  }
  expect(moments.every(({ failed }) => failed === undefined)).toBe(true);
  expect(foldAll(journal).plugins.scheduled).toEqual([]);
}

describe.each(phases)("scheduled for %s", (phase) => {
  for (const type of commandTypes) {
    const why = refusal(type, phase);
    if (why === undefined) {
      test(`${type} is applied there, once`, async () => {
        const played = await play(phase, scheduler(type, phase));
        samples[type].isSeen(played, phase);
        expectOnce(played, type, phase);
        expect(played.warnings).toEqual([]);
      });
    } else {
      test(`${type} is refused where it is said, and nothing is applied`, async () => {
        const says = (view: AnyView): readonly Command[] => [
          mark.set("marked"),
          { type: "schedule", phase, command: samples[type].command(view) },
        ];
        const played = await play(phase, pluginOf({ "before-run": saysOnce(says, "sync") }));
        expectFailure(played, { phase: "before-run", code: "command-refused", says: [`schedule: `, why] });
      });
    }
  }
});

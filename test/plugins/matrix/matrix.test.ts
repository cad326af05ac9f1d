/** The matrix phase × command, made from the phase table: what is allowed works, what is not is refused and changes nothing. */
import { describe, expect, test } from "vitest";
import type { Command, CommandType } from "../../../src/domain/command.ts";
import { commandTypes } from "../../../src/domain/command-shape.ts";
import { type Phase, phases } from "../../../src/domain/phase.ts";
import { isAllowed, phaseTable } from "../../../src/engine/phases.ts";
import { expectFailure } from "./failure.ts";
import { type Sample, samples } from "./samples.ts";
import { type AnyView, hookedIn, limits, type Played, play, saysOnce, type Way } from "./world.ts";

const ways: readonly Way[] = ["sync", "async"];

/** Without it the effect could not be seen: what is said to a run that ends is heard by nobody. */
function besides(phase: Phase, type: CommandType): readonly Command[] {
  const isForLater = type === "add-context" || type === "schedule";
  return phase === "before-end" && isForLater ? [{ type: "continue", message: "Go on." }] : [];
}

/** One of every command that the phase allows, in front of one that it does not. */
function withNeighbours(phase: Phase, refused: Command, view: AnyView): readonly Command[] {
  return [...phaseTable[phase].commands.map((type) => samples[type].command(view)), refused];
}

function expectTimers({ sleeps }: Played, phase: Phase, way: Way): void {
  const ms = limits[phaseTable[phase].deadline];
  expect(sleeps.filter((slept) => slept === ms)).toHaveLength(way === "sync" ? 0 : 1);
}

test("every phase of the table is in the matrix, in the order in which a run meets them", () => {
  expect(Object.keys(phaseTable)).toEqual(phases);
  expect(Object.keys(samples)).toEqual(commandTypes);
});

describe.each(phases)("in %s", (phase) => {
  for (const type of commandTypes) {
    const { command, isSeen, inStep }: Sample = samples[type];
    for (const way of ways) {
      if (isAllowed(type, phase)) {
        test(`${type} is allowed and has its effect (${way})`, async () => {
          const says = (view: AnyView): readonly Command[] => [command(view), ...besides(phase, type)];
          const played = await play(phase, hookedIn(phase, saysOnce(says, way, inStep)));
          isSeen(played, phase);
          expectTimers(played, phase, way);
          expect(played.warnings).toEqual([]);
        });
      } else {
        test(`${type} is refused, and nothing that was said beside it is applied (${way})`, async () => {
          const says = (view: AnyView): readonly Command[] => withNeighbours(phase, command(view), view);
          const played = await play(phase, hookedIn(phase, saysOnce(says, way)));
          expectFailure(played, { phase, code: "command-refused", says: [`${type} is not allowed in ${phase}`] });
          expectTimers(played, phase, way);
        });
      }
    }
  }
});

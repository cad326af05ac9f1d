import { expect, test } from "vitest";
import { isHoldfastError } from "../../src/domain/errors.ts";
import { move } from "../../src/domain/run.ts";
import { type DecisionKind, ticketVerbs } from "../../src/domain/ticket.ts";

test("an illegal move is refused, naming both ends, and a legal one gives the new status", () => {
  expect(move("running", "waiting")).toBe("waiting");
  expect(() => move("created", "waiting")).toThrow("cannot go from created to waiting");
  const caught = ((): unknown => {
    try {
      return move("done", "running");
    } catch (error) {
      return error;
    }
  })();
  expect(isHoldfastError(caught, "illegal-transition")).toBe(true);
});

test("each kind of ticket has only its legal verbs, and none of them is the engine's", () => {
  expect(ticketVerbs).toEqual({
    approval: ["approve", "edit", "reject", "answer"],
    input: ["answer"],
    auth: ["answer"],
    "unknown-outcome": ["mark-done", "mark-failed", "run-again", "cancel-run"],
    pause: ["release", "cancel-run"],
    quarantined: ["release", "cancel-run"],
    "missing-capability": ["release", "cancel-run"],
    timer: [],
    child: [],
    background: [],
  });
  const engines: readonly DecisionKind[] = ["elapsed", "closed", "child-ended"];
  for (const verbs of Object.values(ticketVerbs)) expect(verbs.filter((verb) => engines.includes(verb))).toEqual([]);
});

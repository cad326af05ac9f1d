import { expect, test } from "vitest";
import { foldAll } from "../../src/domain/apply.ts";
import type { Command, GivenCommand } from "../../src/domain/command.ts";
import type { EntryBody } from "../../src/domain/entry.ts";
import { type Phase, phases } from "../../src/domain/phase.ts";
import type { Outcome } from "../../src/domain/run.ts";
import type { RunState } from "../../src/domain/run-state.ts";
import * as j from "./journal.ts";

function stateOf(...bodies: readonly EntryBody[]): RunState {
  return foldAll(j.journal(...bodies));
}

/** A run whose first step is still to come. */
const started = [j.created(), j.runStarted, j.appendInput];
const inStep = [...started, j.stepStarted()];
/** A step with one call, all of it over. */
const stepDone = [...j.proposed({}), j.callGated(), j.toolIntended(), j.toolSettled(), j.resultAppended()];
const afterStep = [...stepDone, j.stepEnded()];

const note: Command = { type: "add-context", key: "note", text: "Mind the gap." };
const stop: Command = { type: "stop", code: "enough" };
const stopped: Outcome = { kind: "stopped", code: "enough" };

function by(plugin: string, command: Command): GivenCommand {
  return { plugin, command };
}

function schedule(phase: Phase, command: Command = stop): Command {
  return { type: "schedule", phase, command };
}

test("P1 a moment is passed at most once", () => {
  expect(stateOf(...started, j.applied("before-run")).plugins.passed).toEqual(["before-run"]);
  expect(() => stateOf(...started, j.applied("before-run", [note]), j.applied("before-run", [note]))).toThrow(
    "Run run-1 has passed before-run already",
  );
});

test("P1 a moment that failed is passed as well", () => {
  expect(() => stateOf(...started, j.pluginFailed("before-step"), j.applied("before-step"))).toThrow(
    "has passed before-step already",
  );
});

test("P1 a phase has a moment for each call, and one for each step", () => {
  const calls = [...j.proposed({}, {}), j.callGated(), j.callGated({ kind: "allow" }, j.call(1))];
  const asked = [j.applied("before-tool", [note], j.call(0)), j.applied("before-tool", [note], j.call(1))];
  expect(stateOf(...calls, ...asked).plugins.passed).toEqual(["before-tool:run-1.1.0", "before-tool:run-1.1.1"]);
  expect(() => stateOf(...calls, ...asked, j.applied("before-tool", [], j.call(1)))).toThrow(
    "has passed before-tool:run-1.1.1 already",
  );
  const next = [...afterStep, j.applied("before-step"), j.stepStarted(2), j.applied("before-model")];
  expect(stateOf(...next).plugins.passed).toEqual(["before-model"]);
});

test("P1 what was scheduled for a phase is used up by its next moment, and nothing else is", () => {
  const planned = [
    ...started,
    j.applied("before-run", [schedule("before-step"), by("b", schedule("after-model", note))]),
  ];
  const scheduled = { plugin: "guard", phase: "before-step", command: stop };
  expect(stateOf(...planned).plugins.scheduled[0]).toEqual(scheduled);
  expect(stateOf(...planned, j.applied("before-step", [stop])).plugins.scheduled).toEqual([
    { plugin: "b", phase: "after-model", command: note },
  ]);
});

test("P1 what a moment schedules for its own phase is for the next one", () => {
  const again = j.applied("before-step", [schedule("before-step", note)]);
  expect(stateOf(...started, again).plugins.scheduled).toHaveLength(1);
  expect(stateOf(...started, again, j.stepStarted()).plugins.scheduled).toHaveLength(1);
});

const stops: readonly [Command, Outcome][] = [
  [stop, stopped],
  [
    { type: "stop", code: "enough", detail: "3 errors" },
    { kind: "stopped", code: "enough", detail: "3 errors" },
  ],
  [{ type: "stop", code: "enough", outcome: "stopped" }, stopped],
  [
    { type: "stop", code: "done", detail: "x", outcome: "completed" },
    { kind: "completed", reason: "requested" },
  ],
  [
    { type: "stop", code: "limit", outcome: "blocked" },
    { kind: "blocked", reason: "limit", code: "limit" },
  ],
  [
    { type: "stop", code: "limit", detail: "no money", outcome: "blocked" },
    { kind: "blocked", reason: "no money", code: "limit" },
  ],
];

test.each(stops)("%j is how the run is to end, and when that was asked", (command, outcome) => {
  expect(stateOf(...started, j.applied("before-run", [command])).plugins.stop).toEqual({ outcome, at: 1_004 });
});

test("P2 of several ends that plugins ask for, the first one counts", () => {
  const later: Command = { type: "stop", code: "later" };
  const deny: Command = { type: "deny", reason: "no", stop: true };
  const refused = j.callGated({ kind: "refuse", code: "denied", message: "no", stop: true }, j.call(1));
  const state = stateOf(
    ...j.proposed({}, {}),
    j.applied("after-model", [stop, by("other", later)]),
    j.callGated(),
    j.applied("before-tool", [deny], j.call()),
    refused,
    j.pluginFailed("after-step"),
  );
  expect(state.plugins.stop).toEqual({ outcome: stopped, at: 1_008 });
});

test("a stop outlives the step in which it was asked", () => {
  const state = stateOf(...stepDone, j.applied("after-step", [stop]), j.stepEnded(), j.stepStarted(2));
  expect(state.plugins.stop?.outcome).toEqual(stopped);
});

test("continue lets the run go on until its next step has begun", () => {
  const goOn = [...afterStep, j.applied("before-end", [{ type: "continue", message: "Not yet." }])];
  expect(stateOf(...goOn).plugins.goesOn).toBe(true);
  expect(stateOf(...goOn, j.stepStarted(2)).plugins).toMatchObject({ goesOn: false, passed: [] });
});

const hide: Command = { type: "hide-tools", tools: ["refund"] };

test.each([
  ["before the first step", started],
  ["after a step has ended", afterStep],
])("what is changed %s is changed of the step to come, and of no other", (_name, bodies) => {
  const ahead = stateOf(...bodies, j.applied("before-step", [hide]));
  expect(ahead.plugins.ahead).toEqual({ hidden: ["refund"] });
  const step = (ahead.step?.step ?? 0) + 1;
  const begun = stateOf(...bodies, j.applied("before-step", [hide]), j.stepStarted(step));
  expect(begun.step?.changes).toEqual({ hidden: ["refund"] });
  expect(begun.plugins.ahead).toEqual({});
});

test("what is changed in a step is added to what was changed before it", () => {
  const state = stateOf(
    ...started,
    j.applied("before-step", [hide]),
    j.stepStarted(),
    j.applied("context-ready", [{ type: "restrict-tools", tools: ["look", "refund"] }]),
    j.applied("before-model", [{ type: "patch-request", instructions: "Be brief." }]),
  );
  expect(state.step?.changes).toEqual({ hidden: ["refund"], only: ["look", "refund"], instructions: "Be brief." });
  expect(state.plugins.ahead).toEqual({});
});

test("the first attempt of a model call fixes what is said in it; later attempts say the same", () => {
  const failed = j.modelSettled({ kind: "lost" });
  const first = [...inStep, j.applied("before-model", [note]), j.modelIntended()];
  const later = [...first, failed, j.applied("on-cancel", [{ ...note, text: "Too late." }]), j.modelIntended(1, 2)];
  expect(stateOf(...first).step?.context.map((slot) => slot.text)).toEqual(["Mind the gap."]);
  expect(stateOf(...later).step?.context.map((slot) => slot.text)).toEqual(["Mind the gap."]);
  expect(stateOf(...later).plugins.context.map((slot) => slot.text)).toEqual(["Too late."]);
});

test("what is said after the model call is for the next step", () => {
  const said = [...stepDone, j.applied("after-step", [note]), j.stepEnded(), j.stepStarted(2)];
  expect(stateOf(...said).step?.context).toEqual([]);
  expect(stateOf(...said, j.modelIntended(2)).step?.context).toMatchObject([{ plugin: "guard", key: "note" }]);
  expect(stateOf(...said, j.modelIntended(2)).plugins.context).toEqual([]);
});

test("retry after the model: none of its calls counts, and the next step says why, in the words of each plugin", () => {
  const retry: Command = { type: "retry", reason: "Shorter." };
  const state = stateOf(
    ...j.proposed({}),
    j.applied("after-model", [retry, by("other", { ...retry, reason: "Kinder." })]),
  );
  expect(state.step?.retried).toBe("Shorter.");
  expect(state.plugins.goesOn).toBe(true);
  const said = state.plugins.context.map(({ plugin, text, target }) => [plugin, text, target]);
  expect(said).toEqual([
    ["guard", "Shorter.", "suffix"],
    ["other", "Kinder.", "suffix"],
  ]);
});

test("a question of a plugin is a ticket of the run, counted and answered without a call", () => {
  const asked = [...inStep, j.opened(j.question(1)), j.opened(j.question(2))];
  expect(stateOf(...asked).plugins.opened).toBe(2);
  const answered = stateOf(...asked, j.decided({ kind: "answer", value: "yes" }, j.question(1).id));
  expect(answered.tickets.map((ticket) => ticket.id)).toEqual(["run-1.input.2"]);
  expect(answered.plugins.opened).toBe(2);
  expect(() => stateOf(...asked, j.decided({ kind: "approve" }, j.question(1).id))).toThrow("does not take approve");
  const { call: _call, ...nameless } = j.ticket("approval");
  expect(() => stateOf(...inStep, j.opened(nameless))).toThrow("names no call");
});

test("the answer of a person is kept until on-decision has seen it", () => {
  const answer = j.decided({ kind: "answer", value: "yes" }, j.question(1).id);
  const release = j.decided({ kind: "release" }, j.ticket("pause").id, "bob");
  const decided = [...inStep, j.opened(j.question(1)), j.opened(j.ticket("pause")), answer, release];
  const [first, second] = stateOf(...decided).plugins.decided;
  expect(first).toEqual({
    id: "run-1.input.1",
    kind: "input",
    prompt: "Go on?",
    plugin: "guard",
    name: "go-on",
    openedAt: 1_000,
    decision: { kind: "answer", value: "yes" },
    by: "ana",
    at: 1_007,
  });
  expect(second).toMatchObject({ kind: "pause", by: "bob" });
  const seen = stateOf(...decided, j.applied("on-decision", [note], "run-1.input.1"));
  expect(seen.plugins.decided).toEqual([second]);
  expect(stateOf(...decided, j.applied("before-model", [note], "run-1.input.1")).plugins.decided).toHaveLength(2);
});

test("the answer about a call is kept with the call and what was asked; the next step forgets it", () => {
  const decided = [...j.waiting(), j.decided({ kind: "reject", reason: "no" })];
  expect(stateOf(...decided).plugins.decided).toMatchObject([
    { kind: "approval", call: "run-1.1.0", tool: "refund", input: { cents: 5 }, decision: { kind: "reject" } },
  ]);
  const next = [j.runResumed, j.resultAppended(), j.stepEnded(), j.stepStarted(2)];
  expect(stateOf(...decided, ...next).plugins.decided).toEqual([]);
});

test("nothing is intended before plugins have heard of an answer: what they had nothing to say to is over then", () => {
  const decided = [...j.waiting(), j.decided({ kind: "approve" }), j.runResumed];
  expect(stateOf(...decided).plugins.decided).toHaveLength(1);
  expect(stateOf(...decided, j.toolIntended()).plugins.decided).toEqual([]);
});

test("what the engine itself decides is nobody's news", () => {
  const timer = j.ticket("timer");
  const state = stateOf(...inStep, j.opened(timer), j.decided({ kind: "elapsed" }, timer.id, "engine"));
  expect(state.plugins.decided).toEqual([]);
});

const nothing: readonly Command[] = [
  { type: "open-ticket", name: "go-on", prompt: "Go on?" },
  { type: "send-input", run: "run-2", message: "hello" },
  { type: "set-state", key: "notes", value: 1 },
  { type: "ask", prompt: "Really?" },
  { type: "patch-input", input: {} },
];

test.each(nothing)("%j is said by an entry of its own: here the moment is passed and no more", (command) => {
  expect(stateOf(...inStep, j.applied("before-model", [command]))).toEqual(
    stateOf(...inStep, j.applied("before-model")),
  );
});

const ofCalls: readonly Phase[] = ["tool-gate", "before-tool", "after-tool"];

test.each(phases.filter((phase) => !ofCalls.includes(phase) && phase !== "on-cancel"))(
  "a plugin that fails in %s ends the run as failed, for good",
  (phase) => {
    const state = stateOf(...inStep, j.pluginFailed(phase));
    const outcome = { kind: "failed", error: { code: "plugin-failed", message: "guard threw" }, retry: "never" };
    expect(state.plugins.stop).toEqual({ outcome, at: 1_005 });
  },
);

test("a plugin that fails in on-cancel stops nobody: the run ends anyway", () => {
  expect(stateOf(...inStep, j.cancelRequested, j.pluginFailed("on-cancel")).plugins).not.toHaveProperty("stop");
});

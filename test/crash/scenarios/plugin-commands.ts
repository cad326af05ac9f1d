/** What plugins ask for besides state: each command once, however often its process dies. */
import { type Command, type DecisionView, type PhaseView, plugin } from "../../../src/index.ts";
import type { CrashScenario } from "../../../src/testing/crash-scenario.ts";
import { acting, answerAll, begin, calling, clerk, key, recalling, scenario } from "./pieces.ts";
import { asking, count, noted, noting, said, toldBy, visits } from "./plugin-pieces.ts";

function onStep<Answer>(step: number, answer: (view: PhaseView) => Answer): (view: PhaseView) => Answer | undefined {
  return (view) => (view.step === step ? answer(view) : undefined);
}

const hour = 3_600_000;

const later =
  (hook: (view: PhaseView) => Command | readonly Command[] | undefined) =>
  async (view: PhaseView): Promise<Command | readonly Command[] | undefined> =>
    hook(view);

/** Has the last word on what is sent; nothing of it is stored. */
const shouting = plugin({
  name: "shouter",
  create: () => ({
    transform: async (request) => ({ ...request, instructions: request.instructions.toUpperCase() }),
  }),
})();

export const pluginCommands: readonly CrashScenario[] = [
  scenario({
    name: "commands scheduled for later phases",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), recalling("Refunded.")],
        tools: [acting(world, { name: "refund", effect: "idempotent" })],
        plugins: [
          asking("planner", {
            "before-run": () => [
              {
                type: "schedule",
                phase: "after-tool",
                command: { type: "rewrite-result", value: { done: "as planned" } },
              },
              { type: "schedule", phase: "after-step", command: visits.update(100) },
              { type: "schedule", phase: "before-step", command: said.set("planned") },
            ],
            "before-model": later((view) => [
              { type: "schedule", phase: "after-model", command: visits.update(10) },
              count.set(view.state.get(count) + 1),
            ]),
          }),
        ],
      }),
    ],
  }),
  scenario({
    name: "results rewritten and inputs changed by plugins that take their time",
    agents: (world) => [
      clerk({
        answers: [calling("refund", "charge", "wire"), recalling("Three.")],
        tools: [
          acting(world, { name: "refund", effect: "idempotent" }),
          acting(world, { name: "charge", effect: "idempotent" }),
          acting(world, { name: "wire", effect: "idempotent" }),
        ],
        plugins: [
          asking("censor", {
            "tool-gate": async (view) => gated(view),
            "before-tool": later((view) =>
              calledTool(view) === "wire" ? { type: "set-result", value: { done: "not really" } } : undefined,
            ),
            "after-tool": async (view) => [
              ...noted(view),
              { type: "rewrite-result", value: { censored: calledTool(view) ?? "?" } },
            ],
          }),
        ],
      }),
    ],
  }),
  scenario({
    name: "a plugin's question, answered",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), recalling("Refunded.")],
        tools: [acting(world, { name: "refund", effect: "idempotent" })],
        plugins: [
          asking("asker", {
            "before-tool": (view) => [...noted(view), { type: "open-ticket", name: "colour", prompt: "Which colour?" }],
            "on-decision": async (view) => answerIn(view),
            "before-end": (view) => noted(view),
          }),
        ],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await answerAll(run, (ticket) => {
        if (ticket.kind === "quarantined") return ticket.release(key(ticket)); // its plugin could not be created
        return ticket.kind === "input" ? ticket.answer("blue", key(ticket)) : undefined;
      });
    },
  }),
  scenario({
    name: "continued once, and stopped in the end",
    agents: () => [
      clerk({
        answers: ["One.", recalling("Two."), recalling("Three."), "Four is too many."],
        plugins: [
          asking("driver", {
            "before-end": ({ state }) =>
              state.get(said) === "" ? [said.set("continued"), { type: "continue", message: "Go on." }] : undefined,
            "after-step": async (view) =>
              view.step === 2
                ? { type: "continue", message: "And on." }
                : [visits.update(1), ...(view.step === 3 ? [{ type: "stop", code: "enough" } as const] : [])],
          }),
        ],
      }),
    ],
  }),
  scenario({
    name: "a plugin sends its own run a message",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), recalling("Heard.")],
        tools: [
          acting(world, { name: "refund", effect: "idempotent", timeoutMs: hour, after: () => world.gate("sent") }),
        ],
        plugins: [
          asking("sender", {
            "before-tool": later((view) => [
              visits.update(1),
              { type: "send-input", run: view.run.id, message: "Note to self." },
            ]),
          }),
        ],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      for await (const event of run.watch()) if (event.type === "input-received") break;
      context.world.open("sent");
    },
    settings: { pollMs: 3_000, watchPollMs: hour }, // who carries messages looks for them by themselves
  }),
  scenario({
    name: "a reply asked for again, and a call attempted again",
    agents: (world) => [
      clerk({
        answers: [calling("charge"), calling("refund"), recalling("Refunded.")],
        tools: [
          acting(world, { name: "refund", effect: "idempotent" }),
          acting(world, { name: "charge", effect: "idempotent" }),
        ],
        plugins: [
          asking("picky", {
            "after-model": onStep(1, () => ({ type: "retry", reason: "Not that one." })),
            "after-tool": async (view) =>
              view.state.get(count) < 2
                ? [...noted(view), { type: "retry", reason: "Once more." }]
                : [...noted(view), said.set("good")],
          }),
        ],
      }),
    ],
  }),
  scenario({
    name: "words and tools that plugins add to the request and take away",
    agents: (world) => [
      clerk({
        answers: [toldBy("First.", { tool: "refund", input: { order: "1" } }), toldBy("Second."), toldBy("Third.")],
        tools: [
          acting(world, { name: "refund", effect: "idempotent" }),
          acting(world, { name: "look", effect: "pure" }),
        ],
        plugins: [
          asking("prompter", {
            "before-run": () => [
              { type: "add-context", key: "tone", text: "Be kind.", persistent: true },
              { type: "add-context", key: "once", text: "Only once.", consumeOnce: true, target: "suffix" },
            ],
            "before-step": later((view) => [
              { type: "add-context", key: "step", text: `Step ${view.step}.`, target: "suffix", cooldown: 1 },
              visits.update(1),
            ]),
            "before-model": onStep(2, () => ({ type: "hide-tools", tools: ["look"] })),
            "context-ready": onStep(3, () => ({ type: "patch-request", instructions: "Be quick." })),
            "before-end": onStep(2, () => ({ type: "continue", message: "Once more." })),
          }),
          noting("keeper", "by turns", ["before-model", "after-step"]),
          shouting,
        ],
      }),
    ],
    settings: { limits: { snapshotEvery: 1 } },
  }),
];

function calledTool(view: PhaseView): string | undefined {
  return "call" in view ? (view.call as { readonly tool: string }).tool : undefined;
}

function gated(view: PhaseView): Command | undefined {
  return calledTool(view) === "charge" ? { type: "patch-input", input: { order: "changed" } } : undefined;
}

/** Only of its own question: others may have to be answered as well. */
function answerIn(view: PhaseView): readonly Command[] {
  const { ticket, decision } = view as unknown as DecisionView;
  if (ticket.name !== "colour" || decision.kind !== "answer") return [];
  return [...noted(view), said.set(String(decision.value))];
}

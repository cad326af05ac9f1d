// A backend of one's own: an agent whose turns are made by something else, here a clerk with a desk.
// expect: The clerk asks: Which order? Refunded order 42.
import { agent, createRuntime } from "holdfast";
import { backendFactory, configuredBackend, type RemoteTurn, readEndpoint, remoteBackend } from "holdfast/backends";

const desk = new Map<string, string>(); // stands for a system far away: it outlives every process of ours

// #region backend
const clerk = backendFactory("clerk", () =>
  remoteBackend("clerk", {
    capabilities: {
      cancellation: "remote-abort",
      decisions: false,
      overrides: false,
      frontendTools: false,
      continuation: "remote-state",
      waits: "input",
      transcript: "incremental-user-messages",
      output: "text",
      persistence: "durable",
    },
    async executeRoot(turn: RemoteTurn) {
      const task = turn.task?.task ?? `task-${desk.size + 1}`;
      await turn.onTask({ task }); // durable before anything else is asked of it
      desk.set(task, turn.text);
      if (turn.answers === undefined) return { status: { kind: "waiting_input", message: "Which order?" } };
      return { status: { kind: "completed" }, output: { text: `Refunded ${turn.text}.` } };
    },
    async look({ task }) {
      return task && desk.has(task.task)
        ? { kind: "result", result: { status: { kind: "waiting_input", message: "Which order?" } } }
        : { kind: "absent" };
    },
    async abort({ task }) {
      if (task) desk.delete(task.task);
    },
  }),
);
// #endregion backend

// #region agent
const endpoint = readEndpoint({ backend: "clerk", baseUrl: "https://desk.example.com", timeout: 60_000 });
const refunds = agent({ name: "refunds", backend: configuredBackend(clerk, endpoint) });

await using runtime = await createRuntime({ agents: [refunds] });
const run = await runtime.start(refunds, "Refund me, please");
await run.idle();
const [ticket] = await runtime.tickets.list({ kind: "input", status: "open" });
await ticket?.answer("order 42");
// #endregion agent

console.log(`The clerk asks: ${ticket?.prompt} ${await run.output()}`);

/** The seeds' items about the in-process backend as root, each by its id. Those about delegates are with delegation. */
import { expect, test } from "vitest";
import { z } from "zod";
import { createInProcessBackend } from "../../src/backends/in-process.ts";
import { fullCapabilities } from "../../src/domain/backend/capabilities.ts";
import { type DelegatePolicy, durableDelegate, ephemeralDelegate } from "../../src/domain/backend/negotiate.ts";
import type { EngineDeps } from "../../src/engine/deps.ts";
import { agent, createRuntime, memory, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

test("LB-001 it needs no configuration and publishes everything", () => {
  const backend = createInProcessBackend({} as EngineDeps);
  expect([backend.name, backend.capabilities]).toEqual(["in-process", fullCapabilities]);
});

test("LB-002 a hand-made request without a claim is refused", async () => {
  await expect(createInProcessBackend({} as EngineDeps).executeRoot(undefined as never)).rejects.toMatchObject({
    code: "backend-execution-failed",
    message: "execution failed: local root execution requires a phase runtime context",
  });
});

const pay = tool({
  name: "pay",
  description: "Pay",
  input: z.object({}),
  effect: "pure",
  needsApproval: () => true,
  execute: () => "paid",
});
const pick = tool({ name: "pick", description: "Pick", input: z.object({}) });

function clerk(seen: ModelRequest[] = []) {
  const model = scripted([
    { calls: [{ tool: "pay" }, { tool: "pick" }] },
    (request) => {
      seen.push(request);
      return "done";
    },
  ]);
  return agent({ name: "clerk", instructions: "Pay.", model, tools: [pay, pick] });
}

test("B-003 LB-003 decisions that were given before the loop starts count, each call by its own resume mode", async () => {
  const store = memory();
  const seen: ModelRequest[] = [];
  await using desk = await createRuntime({ store });
  const first = await createRuntime({ agents: [clerk()], store });
  const run = await first.start("clerk", "go");
  await run.idle();
  await first.close(); // from here on nobody drives the run
  const tickets = await desk.tickets.list({ status: "open" });
  const decided = tickets.map(({ id, kind, hash }) =>
    desk.tickets.decide(id, kind === "approval" ? { kind: "approve", hash } : { kind: "answer", value: "red", hash }),
  );
  expect((await Promise.all(decided)).map(({ mine }) => mine)).toEqual([true, true]);
  await using second = await createRuntime({ agents: [clerk(seen)], store });
  expect(await second.runs.get(run.id).result()).toMatchObject({ outcome: "completed", output: "done" });
  const results = seen[0]?.messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-result"));
  expect(results?.map(({ result }) => (result.kind === "value" ? result.value : result.code))).toEqual(["paid", "red"]);
});

test("LB-004 a decision that cannot be applied is refused where it is given, and the loop is not entered", async () => {
  await using t = await testRuntime({ agents: [clerk()] });
  const run = await t.runtime.start("clerk", "go");
  await run.idle();
  const [ticket] = await t.runtime.tickets.list({ kind: "approval", status: "open" });
  const wrong = t.runtime.tickets.decide(ticket?.id ?? "", { kind: "run-again", hash: ticket?.hash ?? "" });
  await expect(wrong).rejects.toMatchObject({ code: "invalid-decision" });
  await expect(t.runtime.tickets.decide("nobody", { kind: "approve", hash: "h" })).rejects.toMatchObject({
    code: "ticket-not-found",
  });
  expect(await run.status()).toMatchObject({ status: "waiting" });
});

test("LB-005 LB-006 the loop has the whole conversation, not only what is new; nothing is dropped on the way", async () => {
  const seen: ModelRequest[] = [];
  const model = scripted([
    (request) => {
      seen.push(request);
      return "yes";
    },
  ]);
  await using t = await testRuntime({ agents: [agent({ name: "clerk", instructions: "Be brief.", model })] });
  await t.runtime.run("clerk", "first", { thread: "t-1" });
  await t.runtime.run("clerk", "second", { thread: "t-1" });
  expect(seen[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(seen[1]).toMatchObject({ agent: "clerk", thread: "t-1", instructions: "Be brief." });
});

test("LB-007 an error of the loop is passed on as itself", async () => {
  const broken = new Error("a defect");
  const held = {
    claim: { scope: "default", run: "r", epoch: 1 },
    lost: new AbortController().signal,
  } as never;
  const deps = { store: { snapshot: () => Promise.reject(broken) }, clock: {}, logger: { warn: () => undefined } };
  await expect(createInProcessBackend(deps as never).executeRoot(held)).rejects.toBe(broken);
});

test("LB-008 LB-009 the result is the text, how it ended, its steps and the run; an empty text is none", async () => {
  await using runtime = await createRuntime({
    agents: [
      agent({ name: "clerk", instructions: "", model: scripted(["words"]) }),
      agent({ name: "mute", instructions: "", model: scripted([{ text: " " }]) }),
    ],
  });
  const run = await runtime.start("clerk", "hi");
  expect(await run.result()).toMatchObject({ outcome: "completed", output: "words" });
  expect(await run.status()).toMatchObject({
    run: run.id,
    agent: "clerk",
    steps: 1,
    outcome: { kind: "completed", reason: "natural" },
  });
  expect((await run.state()).values).toEqual({});
});

test("LB-010 a policy of another kind does not compile unnoticed", () => {
  const known = (policy: DelegatePolicy): string => {
    switch (policy.persistence) {
      case "durable":
      case "ephemeral":
        break;
      default:
        return policy.persistence satisfies never;
    }
    switch (policy.continuation) {
      case "disabled":
      case "resumable":
        return `${policy.persistence} ${policy.continuation}`;
      default:
        return policy.continuation satisfies never;
    }
  };
  expect([durableDelegate, ephemeralDelegate].map(known)).toEqual(["durable resumable", "ephemeral disabled"]);
});

test("LB-033 a resolver that answers every name with one agent", async () => {
  const one = agent({ name: "clerk", instructions: "", model: scripted(["words"]) });
  await using runtime = await createRuntime({ resolver: { resolve: () => one, names: () => ["clerk"] } });
  expect(await runtime.run("clerk", "hi")).toMatchObject({ outcome: "completed", output: "words" });
});

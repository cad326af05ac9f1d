/** Tools of a server in runs: in the manifest, under approvals, and in processes that see another server. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import {
  type Agent,
  agent,
  createRuntime,
  type ModelRequest,
  memory,
  type RunId,
  type Runtime,
  type StoreDefinition,
  type Tool,
} from "holdfast";
import { scripted } from "holdfast/testing";
import { expect, test } from "vitest";
import { world } from "./world.ts";

const options = { tools: { add: { needsApproval: true } } } as const;

function adder(tools: readonly Tool[], onUpgrade: "pinned" | "move" = "pinned"): Agent {
  const calls = [{ tool: "w__add", input: { a: 1, b: 2 } }];
  return agent({ name: "adder", model: scripted([{ calls }, "Done."]), instructions: "Add.", tools, onUpgrade });
}

async function approveAll(runtime: Runtime): Promise<number> {
  const tickets = await runtime.tickets.list({ kind: "approval", status: "open" });
  for (const ticket of tickets) await ticket.approve({ by: "ana@example.com" });
  return tickets.length;
}

test("a tool that has changed while somebody was asked about it is not run", async () => {
  const { server, changeFile, count, kill } = await world("stdio-before", options);
  const mine = adder(await server.connect());
  await using runtime = await createRuntime({ agents: [mine] });
  const run = await runtime.start(mine, "Add");
  await run.idle();
  writeFileSync(changeFile, "Adds two numbers, and sends them to me");
  await kill();
  expect(await approveAll(runtime)).toBe(1);
  expect(await run.output()).toBe("Done.");
  const ended: string[] = [];
  for await (const event of run.watch({ until: "end" })) ended.push(JSON.stringify(event));
  expect(ended.join()).toContain("it has another description since the agent was defined");
  expect(count("add")).toBe(0);
});

test("another process with another tool: pinned names what is missing, move asks again", async () => {
  const { server, another, changeFile, count } = await world("stdio-now", options);
  const tools = await server.connect();
  const waiting = async (): Promise<{ store: StoreDefinition; id: RunId }> => {
    const store = memory();
    const mine = adder(tools);
    await using before = await createRuntime({ store, agents: [mine] });
    const run = await before.start(mine, "Add");
    await run.idle();
    return { store, id: run.id };
  };
  const [first, second] = [await waiting(), await waiting()];
  await server.close();
  writeFileSync(changeFile, "Adds two numbers, and sends them to me");
  const changed = await another().connect();

  await using pinned = await createRuntime({ store: first.store, agents: [adder(changed)] });
  expect(await approveAll(pinned)).toBe(1);
  await pinned.runs.get(first.id).idle();
  const [ticket] = await pinned.tickets.list({ kind: "missing-capability", status: "open" });
  const version = tools.find(({ spec }) => spec.name === "w__add")?.spec.version;
  expect(ticket?.prompt).toContain(`does not have tool w__add@${version}`);
  expect(count("add")).toBe(0);

  await using moved = await createRuntime({ store: second.store, agents: [adder(changed, "move")] });
  expect(await approveAll(moved)).toBe(1);
  await moved.runs.get(second.id).idle();
  expect(count("add")).toBe(0);
  expect(await approveAll(moved)).toBe(1);
  expect(await moved.runs.get(second.id).output()).toBe("Done.");
  expect(count("add")).toBe(1);
});

test("a tool that ran and was answered with an error is a person's to decide, and not called again", async () => {
  const { server, count } = await world("stdio-now");
  const refund = { calls: [{ tool: "w__refund", input: {} }] };
  const tools = await server.connect();
  const mine = agent({ name: "teller", model: scripted([refund, refund, "Done."]), instructions: "Refund.", tools });
  await using runtime = await createRuntime({ agents: [mine] });
  const run = await runtime.start(mine, "Refund");
  await run.idle();
  const [ticket] = await runtime.tickets.list({ kind: "unknown-outcome", status: "open" });
  expect(ticket?.prompt).toContain("the server answered with an error, which does not say whether the tool ran");
  expect(count("refund")).toBe(1);
});

test("pins define the same tools without a server, and a call starts it", async () => {
  const { server, another, log } = await world("stdio-now", { ...options, hints: "trust", resources: true });
  const tools = await server.connect();
  const pins = JSON.parse(JSON.stringify(server.pins()));
  await server.close();
  const before = log().length;

  const later = another({ pins });
  expect(later.tools().map(({ spec }) => spec)).toEqual(tools.map(({ spec }) => spec));
  expect(later.status().state).toBe("not-connected");
  expect(log().length).toBe(before);

  const mine = adder(later.tools());
  await using runtime = await createRuntime({ agents: [mine] });
  const run = await runtime.start(mine, "Add");
  await run.idle();
  await approveAll(runtime);
  expect(await run.output()).toBe("Done.");
  expect(
    log()
      .slice(before)
      .map((line) => line.split(" ")[0]),
  ).toEqual(["started", "add"]);
});

test("progress of a server is told to whoever watches the run", async () => {
  const { server } = await world("http-before");
  const calls = [{ tool: "w__work", input: { steps: 3, ms: 120 } }];
  const tools = await server.connect();
  const mine = agent({ name: "worker", model: scripted([{ calls }, "Done."]), instructions: "Work.", tools });
  await using runtime = await createRuntime({ agents: [mine] });
  const run = await runtime.start(mine, "Work");
  const told: unknown[] = [];
  for await (const event of run.watch()) if (event.type === "tool-progress") told.push(event.progress);
  expect(told[0]).toEqual({ progress: 1, total: 3 });
});

test("cancelling a run cancels its call", async () => {
  const { server, count } = await world("stdio-before");
  const calls = [{ tool: "w__work", input: { steps: 1_000, ms: 10 } }];
  const tools = await server.connect();
  const mine = agent({ name: "worker", model: scripted([{ calls }, "Done."]), instructions: "Work.", tools });
  await using runtime = await createRuntime({ agents: [mine] });
  const run = await runtime.start(mine, "Work");
  for await (const event of run.watch()) if (event.type === "tool-progress") break;
  await run.cancel();
  expect((await run.result()).outcome).toBe("cancelled");
  await expect.poll(() => count("work cancelled")).toBe(1);
});

test("a file that a server gives is content of the run, byte for byte, and shown to a model that reads it", async () => {
  const { server } = await world("http-now");
  const calls = [{ tool: "w__picture", input: {} }];
  const tools = await server.connect();
  const seen: unknown[] = [];
  const last = ({ messages }: ModelRequest): string => {
    seen.push(messages.at(-1)?.parts.at(-1));
    return "Done.";
  };
  const model = scripted([{ calls }, last], { description: { accepts: ["text", "image"] } });
  const mine = agent({ name: "painter", model, instructions: "Paint.", tools });
  await using runtime = await createRuntime({ agents: [mine] });
  const run = await runtime.start(mine, "Paint");
  expect(await run.output()).toBe("Done.");
  const kept = await runtime.content.get(createHash("sha256").update("a picture").digest("hex"));
  expect({ mediaType: kept.mediaType, text: Buffer.from(kept.body).toString() }).toEqual({
    mediaType: "image/png",
    text: "a picture",
  });
  const url = `data:image/png;base64,${Buffer.from("a picture").toString("base64")}`;
  expect(seen).toEqual([{ type: "image", mediaType: "image/png", url }]);
});

/** L8, L9: sinks are named, given and checked before anything is opened. */
import { expect, test } from "vitest";
import { agent } from "../../src/domain/agent.ts";
import { createRuntime, createWorker, isHoldfastError, type RuntimeOptions } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";

const sink = { deliver: () => undefined };
const plain = agent({ name: "plain", model: scripted([]), instructions: "" });
const teller = agent({ name: "teller", model: scripted([]), instructions: "", sinks: ["crm", "log"] });

/** A store that must not be touched. */
const store = {
  name: "untouched",
  open: () => Promise.reject(new Error("The store was opened")),
};

async function problemsOf(options: object): Promise<readonly string[]> {
  const all: (readonly string[])[] = [];
  for (const create of [createRuntime, createWorker] as ((options: RuntimeOptions) => Promise<unknown>)[]) {
    const refused = await create({ agents: [plain], store, ...options }).catch((cause: unknown) => cause);
    if (!isHoldfastError(refused, "invalid-options")) throw refused;
    all.push(refused.problems);
  }
  expect(all[1]).toEqual(all[0]);
  return all[0] ?? [];
}

test("R-066 a sink that an agent names and the process lacks is refused by both names, each one", async () => {
  expect(await problemsOf({ agents: [plain, teller], sinks: { other: sink } })).toEqual([
    "sinks: agent teller tells sink crm, which is not here; give sinks: { crm: … }",
    "sinks: agent teller tells sink log, which is not here; give sinks: { log: … }",
  ]);
  expect(await problemsOf({ agents: [teller], sinks: { log: sink } })).toHaveLength(1);
});

test("a name that every object has is not a sink", async () => {
  const named = agent({ name: "teller", model: scripted([]), instructions: "", sinks: ["constructor", "toString"] });
  expect(await problemsOf({ agents: [named], sinks: {} })).toHaveLength(2);
});

const wrong: readonly [string, unknown, string][] = [
  ["no object", [], "sinks: must be an object: sinks by name"],
  ["null", null, "sinks: must be an object: sinks by name"],
  ["XS-33 an empty name", { "": sink }, "sinks.: the name must match"],
  ["XS-33 a name with spaces", { "my crm": sink }, "sinks.my crm: the name must match"],
  ["a function", { crm: () => undefined }, "sinks.crm.options must be an object"],
  ["nothing to call", { crm: {} }, "sinks.crm.deliver: must be a function"],
  ["an unknown key", { crm: { ...sink, retries: 3 } }, "sinks.crm.retries: unknown option"],
  ["timeoutMs 0", { crm: { ...sink, timeoutMs: 0 } }, "sinks.crm.timeoutMs: must be a whole number"],
  ["timeoutMs as text", { crm: { ...sink, timeoutMs: "1s" } }, "sinks.crm.timeoutMs: must be a whole number"],
  ["attempts 0", { crm: { ...sink, attempts: 0 } }, "sinks.crm.attempts: must be a whole number"],
];

test.each(wrong)("L9 %s is refused", async (_name, sinks, problem) => {
  expect((await problemsOf({ sinks })).join("\n")).toContain(problem);
});

test("sinks without agents are refused: nobody would deliver", async () => {
  await expect(createRuntime({ store, sinks: { crm: sink } })).rejects.toMatchObject({
    problems: ["sinks: needs agents: only a process that runs some delivers"],
  });
});

test.each([
  ["crm", "sinks: must be a list of names"],
  [[""], "sinks[0]: must match"],
  [[1], "sinks[0]: must match"],
  [["a", "a"], "sinks[1]: the name a is used twice"],
])("agent({ sinks: %j }) is refused", (sinks, problem) => {
  const make = (): unknown => agent({ name: "a", model: scripted([]), instructions: "", sinks: sinks as string[] });
  expect(make).toThrow(expect.objectContaining({ problems: [expect.stringContaining(problem)] }));
});

test("R-035 the runtime says which sinks it has", async () => {
  await using runtime = await createRuntime({ agents: [teller], sinks: { crm: sink, log: sink } });
  expect(runtime.sinks).toEqual(["crm", "log"]);
  await using desk = await createRuntime();
  expect(desk.sinks).toEqual([]);
});

test("a runtime without agents starts runs of agents whose sinks it lacks", async () => {
  await using desk = await createRuntime();
  const run = await desk.start(teller, "go");
  expect((await run.status()).status).toBe("created");
});

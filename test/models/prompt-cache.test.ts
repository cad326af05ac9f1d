/** What a request says of itself for a provider's cache: whose it is, and how much of it comes again. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { Message } from "../../src/domain/message.ts";
import { type Agent, agent, createRuntime, type ModelRequest, plugin, tool } from "../../src/index.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";

const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "ok" });

type Plugins = Parameters<typeof agent>[0]["plugins"];

interface Seen {
  readonly one: Agent<string>;
  readonly requests: ModelRequest[];
}

/** Looks twice, then answers. */
function seeing(plugins: Plugins = [], name = "a"): Seen {
  const requests: ModelRequest[] = [];
  const saw =
    (answer: ScriptedAnswer) =>
    (request: ModelRequest): ScriptedAnswer => {
      requests.push(request);
      return answer;
    };
  const looks = { calls: [{ tool: "look", input: {} }] };
  const answers = Array.from({ length: 4 }, () => [saw(looks), saw(looks), saw("Done.")]).flat();
  const one = agent({ name, model: scripted(answers), instructions: "Look.", tools: [look], plugins });
  return { one, requests };
}

async function played({ one, requests }: Seen): Promise<readonly ModelRequest[]> {
  await using t = await testRuntime({ agents: [one] });
  await t.runtime.run(one, "go", { thread: "ana@example.com" });
  return requests;
}

const stableOf = ({ cache, messages }: ModelRequest): readonly Message[] => messages.slice(0, cache?.stable);
const wordsOf = (messages: readonly Message[]): readonly unknown[] => messages.map(({ role, parts }) => [role, parts]);

test("every message comes again in the next request, as it is", async () => {
  const requests = await played(seeing());
  expect(requests.map(({ cache }) => cache?.stable)).toEqual([1, 3, 5]);
  for (const [at, request] of requests.entries()) {
    expect(stableOf(request)).toEqual(request.messages);
    if (at > 0) expect(request.messages.slice(0, requests[at - 1]?.cache?.stable)).toEqual(requests[at - 1]?.messages);
  }
});

const note = plugin({
  name: "note",
  version: "1",
  create: () => ({
    hooks: {
      "before-step": ({ step }) => [
        { type: "add-context", key: "first", text: "Mind the house.", target: "conversation" },
        { type: "add-context", key: "now", text: `Step ${step}.`, target: "suffix" },
      ],
    },
  }),
});

test("what is said for one step only is not counted; what is said before the conversation is", async () => {
  const requests = await played(seeing([note()]));
  expect(requests.map(({ cache }) => cache?.stable)).toEqual([2, 4, 6]);
  for (const [at, request] of requests.entries()) {
    expect(request.messages.length).toBe((request.cache?.stable ?? 0) + 1);
    const before = requests[at - 1];
    const [now, then] = [request.messages, before?.messages ?? []].map((all) =>
      wordsOf(all.slice(0, before?.cache?.stable ?? 0)),
    );
    expect(now).toEqual(then);
  }
});

const changing = (change: (messages: readonly Message[]) => readonly Message[]) =>
  plugin({
    name: "changer",
    version: "1",
    create: () => ({ transform: (request) => ({ ...request, messages: change(request.messages) }) }),
  })();

const extra: Message = {
  id: "extra" as Message["id"],
  role: "user",
  parts: [{ type: "text", text: "!" }],
  visibility: "all",
};

test.each<[string, (messages: readonly Message[]) => readonly Message[], readonly number[]]>([
  ["adds one in front", (messages) => [extra, ...messages], [2, 4, 6]],
  ["adds one behind", (messages) => [...messages, extra], [1, 3, 5]],
  ["writes each anew", (messages) => messages.map((message) => ({ ...message })), [1, 3, 5]],
  ["leaves the newest out", (messages) => [...messages.slice(0, -1), extra], [0, 0, 0]],
])("a transform that %s moves what is counted along", async (_, change, stable) => {
  const requests = await played(seeing([changing(change)]));
  expect(requests.map(({ cache }) => cache?.stable)).toEqual(stable);
});

test("the key is the same for every call of an agent on a thread, another elsewhere, and tells no name", async () => {
  const [first, second] = [seeing([], "first"), seeing([], "second")];
  const agents = [first.one, second.one];
  await using here = await createRuntime({ agents });
  await using elsewhere = await createRuntime({ agents, scope: "acme" });
  await here.run(first.one, "go", { thread: "ana@example.com" });
  await here.run(first.one, "go", { thread: "ana@example.com" });
  await here.run(first.one, "go", { thread: "ben@example.com" });
  await elsewhere.run(first.one, "go", { thread: "ana@example.com" });
  await here.run(second.one, "go", { thread: "ana@example.com" });
  const keys = [...first.requests, ...second.requests].map(({ cache }) => cache?.key ?? "");
  const [run, next, ...others] = [0, 3, 6, 9, 12].map((at) => new Set(keys.slice(at, at + 3)));
  expect(run?.size).toBe(1);
  expect(next).toEqual(run);
  expect(new Set(keys).size).toBe(1 + others.length);
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{40}$/);
});

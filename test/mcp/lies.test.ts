/** Servers that flood, lie or die: each is named or survived, and nothing is run twice. */
import { HoldfastError } from "holdfast";
import type { McpServerOptions } from "holdfast/mcp";
import { describe, expect, test } from "vitest";
import { call, end, liar, toolOf } from "./world.ts";

async function refusal(wrong: string): Promise<HoldfastError> {
  const server = liar([wrong]);
  const cause: unknown = await server.connect().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(cause).toBeInstanceOf(HoldfastError);
  expect(() => server.tools()).toThrow("are not known yet");
  return cause as HoldfastError;
}

/** All at once: each is a process of its own. */
async function each<T>(wrong: readonly string[], found: (wrong: string) => Promise<T>): Promise<Record<string, T>> {
  return Object.fromEntries(await Promise.all(wrong.map(async (name) => [name, await found(name)] as const)));
}

test("a list of tools that cannot be used is refused with what is wrong, before anything is run", async () => {
  const expected = {
    "two-names": "it has two tools called echo",
    "one-name-for-two": "it has two tools called a.b.c",
    "no-name": "tool 0 has no name of 1 to 256 characters",
    "list-schema": "echo: its input schema is not that of an object",
    "no-schema": "echo: its input schema is not that of an object",
    "broken-schema": "echo: its input schema cannot be used: can't resolve reference #/nowhere from id #",
    "remote-schema":
      "echo: its input schema cannot be used: can't resolve reference http://127.0.0.1:9/schema.json from id #",
    "deep-schema": "echo: its input schema cannot be taken: nesting deeper than 48",
    "long-description": "echo: its description is over 16384 characters",
    "many-tools": "it has 201 tools, the limit is 200; choose some with `only`",
  };
  const found = await each(Object.keys(expected), async (wrong) => {
    const { code, problems } = await refusal(wrong);
    return code === "mcp-tools-refused" ? problems[0]?.replace(/ at \$.*/, "") : code;
  });
  expect(found).toEqual(expected);
});

test("an answer that is no list is said", async () => {
  const found = await each(["no-list", "endless-list"], async (wrong) => (await refusal(wrong)).message);
  expect(found).toMatchObject({
    "no-list": expect.stringContaining("it answered tools/list with something that is no list"),
    "endless-list": expect.stringContaining("its list of tools does not end after 100 pages"),
  });
});

test("answers to a call are taken for what they say, and not for more", async () => {
  const expected = {
    huge: ["value", "is left out: the result is too large)"],
    "larger-than-allowed": ["open", "it wrote a message of more than 8388608 bytes"],
    "endless-line": ["open", "it wrote a message of more than 8388608 bytes"],
    "no-result": ["open", "may or may not have been run"],
    refuses: ["open", "may or may not have been run: the server answered with an error"],
    "inner-error": ["open", "which does not say whether the tool ran before it (-32603: broken"],
    twice: ["value", "one"],
    half: ["open", "may or may not have been run"],
    flood: ["open", "it sends more than 200 messages a second"],
    noise: ["value", "ok"],
    nothing: ["value", "ok \ufffd"],
  } as const;
  const found = await each(Object.keys(expected), async (wrong) => {
    const server = liar([wrong]);
    const { kind, said } = await end(call(toolOf(await server.connect(), "echo"), {}));
    const [, part] = expected[wrong as keyof typeof expected];
    return [kind, [said, server.status().problem].some((text) => text?.includes(part)) ? part : said.slice(-200)];
  });
  expect(found).toEqual(expected);
});

test("a call that is never answered ends when it is given up", async () => {
  const found = await each(["never", "wrong-id"], async (wrong) => {
    const tools = await liar([wrong]).connect();
    return await end(call(toolOf(tools, "echo"), {}, { signal: AbortSignal.timeout(100) }));
  });
  const open = { kind: "open", said: expect.stringContaining("it was given up") };
  expect(found).toEqual({ never: open, "wrong-id": open });
});

describe("a server that dies", () => {
  test("before it has listed its tools cannot be used, and that is said", async () => {
    const found = await each(["start", "initialize", "tools/list"], async (when) => {
      const server = liar(["dies", when]);
      const code = await server.connect().catch((cause: HoldfastError) => cause.code);
      return [code, server.status().state];
    });
    const ended = ["mcp-unreachable", "not-connected"];
    expect(found).toEqual({ start: ended, initialize: ended, "tools/list": ended });
  });

  test("in a call leaves it open, and the next call finds another one", async () => {
    const server = liar(["dies", "tools/call"]);
    const tools = await server.connect();
    for (let at = 0; at < 2; at += 1) {
      expect(await end(call(toolOf(tools, "echo"), {}))).toMatchObject({ kind: "open" });
    }
  });

  test("when it is asked in the new way is asked in the old one", async () => {
    const server = liar(["dies-when-asked-anything-new"]);
    const tools = await server.connect();
    expect(server.status().protocol).toBe("2025-06-18");
    expect(await end(call(toolOf(tools, "echo"), {}))).toMatchObject({ kind: "value" });
  });

  test("and one that never says a word is given up in time", async () => {
    const server = liar(["silent"], { limits: { connectMs: 600 } });
    await expect(server.connect()).rejects.toThrow("it was not ready within 600 ms");
  });
});

test("a tool that changes without a word is found when somebody was asked about it, or when the list is old", async () => {
  const ends = async (wrong: string, options: Partial<McpServerOptions>): Promise<string> => {
    const tools = await liar([wrong], options).connect();
    return (await end(call(toolOf(tools, "echo"), {}))).kind;
  };
  const old = { limits: { recheckMs: 0 } };
  expect(
    await Promise.all([
      ends("changes-words", { needsApproval: true }),
      ends("changes-words", old),
      ends("changes-words", {}), // the list is young, and nobody was shown the tool
      ends("changes-hints", { ...old, hints: "trust" }),
      ends("changes-hints", old), // nobody believes them anyway
    ]),
  ).toEqual(["failure", "failure", "value", "failure", "value"]);
});

test("an expression of a server cannot stop this process", async () => {
  const server = liar(["evil-pattern"]);
  const [tool] = await server.connect();
  const validate = tool?.code.schema["~standard"].validate;
  expect("issues" in ((await validate?.({ text: `${"a".repeat(50_000)}!` })) ?? {})).toBe(true);
  expect(validate?.({ text: "aaa" })).toEqual({ value: { text: "aaa" } });
});

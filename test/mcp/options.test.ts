/** Every option and limit of a server does something, and what cannot be meant is refused with all that is wrong. */
import type { HoldfastError } from "holdfast";
import { secret } from "holdfast";
import { type McpPins, type McpServerOptions, mcpServer } from "holdfast/mcp";
import { describe, expect, test } from "vitest";
import { nodeHash } from "../../src/platform/node-hash.ts";
import { toolName } from "../../src/toolsets/mcp/names.ts";
import { versionOf } from "../../src/toolsets/mcp/pins.ts";
import { call, end, liar, toolOf, until } from "./world.ts";

const command = "true";

function problems(options: unknown): readonly string[] {
  try {
    mcpServer(options as McpServerOptions);
  } catch (cause) {
    return (cause as HoldfastError).problems;
  }
  return [];
}

test("bad options are refused, all of them at once", () => {
  expect(problems({ name: "a__b", stdio: {}, http: { url: "ftp://x" }, only: [1], roots: "x", speed: 1 })).toEqual([
    expect.stringMatching(/^speed: unknown option/),
    expect.stringMatching(/^name: must match/),
    "stdio, http: give one of them",
    "stdio.command: must be the name or path of a program",
    "http.url: must be an http:// or https:// address without a user in it",
    "only: must be a list of tool names",
    "roots: must be a list of folders or file:// addresses",
  ]);
  expect(
    problems({ name: "a", http: { url: "http://u:p@x/", headers: { "a b": "c" } }, limits: { waitMs: -1, x: 1 } }),
  ).toEqual([
    "http.url: must be an http:// or https:// address without a user in it",
    "http.headers: must be a record of header names with strings or secrets",
    expect.stringMatching(/^limits\.x: unknown option/),
    "limits.waitMs: must be a whole number from 0 to 3600000",
  ]);
  const tools = {
    echo: { effect: "sometimes", needsApproval: "yes", timeoutMs: 0, onUnknown: "guess", approval: 1, x: 1 },
  };
  expect(
    problems({ name: "a", stdio: { command, args: [1], env: { A: 1 }, cwd: "" }, tools, hints: "some", resources: 1 }),
  ).toHaveLength(11);
  expect(problems(undefined)).not.toEqual([]);
  expect(problems({ name: "a", stdio: { command, args: [secret("x")] }, onStatus: 1, needsApproval: 1 })).toEqual([
    "needsApproval: must be a boolean",
    "onStatus: must be a function of the status",
  ]);
});

const pin = { name: "echo", description: "Says it again", inputSchema: { type: "object" } } as const;
const version = versionOf(pin, nodeHash);

function pinned(hints: object, options: Partial<McpServerOptions>): McpServerOptions {
  const pins: McpPins = { format: 1, server: "s", tools: [{ ...pin, hints, version }] };
  return { name: "s", stdio: { command }, pins, ...options };
}

describe("what a tool may do", () => {
  const spec = (hints: object, options: Partial<McpServerOptions> = {}): unknown => {
    const [tool] = mcpServer(pinned(hints, options)).tools();
    const { effect, gate, timeoutMs, onUnknown, approval } = tool?.spec ?? {};
    return { effect, gate, timeoutMs, onUnknown, approval };
  };
  const careful = { effect: "once", gate: "never", timeoutMs: 60_000, onUnknown: "ask", approval: undefined };

  test("is what the operator says, and hints count only where they are trusted", () => {
    const all = { readOnly: true, idempotent: true, destructive: true };
    expect(spec(all)).toEqual(careful);
    expect(spec({ readOnly: true }, { hints: "trust" })).toEqual({ ...careful, effect: "pure" });
    expect(spec({ idempotent: true }, { hints: "trust" })).toEqual({ ...careful, effect: "idempotent" });
    expect(spec({ destructive: true }, { hints: "trust" })).toEqual({ ...careful, gate: "always" });
    expect(spec({}, { needsApproval: true })).toEqual({ ...careful, gate: "always" });
    const approval = { audience: { roles: ["finance"] } };
    const echo = { effect: "once", needsApproval: true, approval, timeoutMs: 5, onUnknown: "tell-model" } as const;
    expect(spec(all, { hints: "trust", tools: { echo } })).toEqual({
      effect: "once",
      gate: "always",
      timeoutMs: 5,
      onUnknown: "tell-model",
      approval,
    });
    expect(spec(all, { hints: "trust", tools: { echo: { needsApproval: false } }, limits: { timeoutMs: 7 } })).toEqual({
      ...careful,
      effect: "pure",
      timeoutMs: 7,
    });
  });

  test("cannot be said of tools that are not there", () => {
    expect(problems(pinned({}, { tools: { ehco: { effect: "pure" } } }))).toEqual([
      "tools.ehco: is no tool of the server; it has echo",
    ]);
  });

  test("resources add two tools of ours", () => {
    const names = mcpServer(pinned({}, { resources: true }))
      .tools()
      .map(({ spec: { name, effect } }) => `${name} ${effect}`);
    expect(names).toEqual(["s__echo once", "s__list_resources pure", "s__read_resource pure"]);
  });
});

test("pins that were changed by hand, or are another server's, are refused", () => {
  const { pins } = pinned({}, {});
  const changed = { ...pins, tools: [{ ...pin, description: "Else", hints: {}, version }] };
  expect(problems(pinned({}, { pins: changed as McpPins }))).toEqual([
    `pins: echo is not what its version ${version} stands for`,
  ]);
  expect(problems(pinned({}, { name: "t" }))).toEqual(["pins: are those of server s"]);
  expect(problems(pinned({}, { pins: {} as McpPins }))).toEqual(["pins: must come from server.pins()"]);
});

test("names fit into a tool's name, stay apart, and stay the same", () => {
  const names = [
    "read",
    "read.file",
    "read/file",
    "read_file",
    "lies über alles",
    "x".repeat(200),
    `${"x".repeat(199)}y`,
    "__proto__",
  ];
  const ours = names.map((name) => toolName("s", name, nodeHash));
  expect(ours.every((name) => /^s__[a-zA-Z0-9_-]{1,61}$/.test(name))).toBe(true);
  expect(new Set(ours).size).toBe(names.length);
  expect(ours.slice(0, 4)).toEqual(["s__read", "s__read_file_dd32cdf5", "s__read_file_9cc468c6", "s__read_file"]);
});

describe("limits", () => {
  test("only: what is not taken is not looked at; what is missing is said", async () => {
    const server = liar(["many-tools"], { only: ["echo7"] });
    expect((await server.connect()).map(({ spec }) => spec.name)).toEqual(["liar__echo7"]);
    await expect(liar(["many-tools"], { only: ["nobody"] }).connect()).rejects.toThrow('only: it has no tool "nobody"');
  });

  test("concurrency and waitMs: who finds no place in time is not sent", async () => {
    const tools = await liar(["slow"], { limits: { concurrency: 1, waitMs: 30 } }).connect();
    const ends = await Promise.all([1, 2].map(() => end(call(toolOf(tools, "echo"), {}))));
    expect(ends.map(({ kind }) => kind)).toEqual(["value", "failure"]);
    const waiting = await liar(["slow"], { limits: { concurrency: 1 } }).connect();
    const both = await Promise.all([1, 2].map(() => end(call(toolOf(waiting, "echo"), {}))));
    expect(both.map(({ kind }) => kind)).toEqual(["value", "value"]);
  });

  test("resultBytes, messageBytes, messagesPerSecond and tools are the operator's", async () => {
    const said = async (wrong: string, limits: McpServerOptions["limits"]): Promise<string> => {
      const server = liar([wrong], limits ? { limits } : {});
      const { said: words } = await end(call(toolOf(await server.connect(), "echo"), {}));
      return `${words} ${server.status().problem ?? ""}`;
    };
    const [cut, closed, flooded] = await Promise.all([
      said("huge", { resultBytes: 2_048 }),
      said("huge", { messageBytes: 10_000 }),
      said("flood", { messagesPerSecond: 100 }),
    ]);
    expect(cut.length).toBeLessThan(2_048);
    expect(closed).toContain("more than 10000 bytes");
    expect(flooded).toContain("more than 100 messages a second");
    await expect(liar(["nothing"], { limits: { tools: 1 } }).connect()).resolves.toHaveLength(1);
    await expect(liar(["two-names"], { limits: { tools: 1 } }).connect()).rejects.toThrow(
      "it has 2 tools, the limit is 1",
    );
  });

  test("reconnectMs: a lost server is left alone for so long", async () => {
    const server = liar(["dies", "tools/call"], {
      limits: { reconnectMs: 3_600_000, reconnectMaxMs: 3_600_000, waitMs: 50 },
    });
    const tools = await server.connect();
    await end(call(toolOf(tools, "echo"), {}));
    await until(() => server.status().state === "waiting", "it waits");
    expect(await end(call(toolOf(tools, "echo"), {}))).toMatchObject({ kind: "failure" });
    expect(server.status().state).toBe("waiting");
    const soon = liar(["dies", "tools/call"], { limits: { reconnectMs: 3_600_000, reconnectMaxMs: 20 } });
    const again = await soon.connect();
    for (let at = 0; at < 2; at += 1)
      expect(await end(call(toolOf(again, "echo"), {}))).toMatchObject({ kind: "open" });
  });

  test("onStatus is told, and what it throws harms nothing", async () => {
    const states: string[] = [];
    const server = liar(["nothing"], {
      onStatus: ({ state }) => {
        states.push(state);
        throw new Error("Not my day");
      },
    });
    await server.connect();
    await server.close();
    expect([...new Set(states)]).toEqual(["connecting", "connected", "closed"]);
  });
});

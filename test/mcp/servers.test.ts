/** Servers on the official packages, current and before, over stdio and HTTP: line 7 of what models must show. */
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Calling, call, end, kinds, toolOf, until, world } from "./world.ts";

const earlier = "may or may not have been run: an earlier attempt may have run, this one did not";

const protocols = {
  "stdio-now": "2026-07-28",
  "stdio-before": "2025-11-25",
  "http-now": "2026-07-28",
  "http-before": "2025-11-25",
};

describe.each(kinds)("%s", (kind) => {
  test("gives tools that run, say how far they are, are cancelled, and fail in words", async () => {
    const { server, log, count } = await world(kind, { roots: ["/srv/files", "file:///srv/more"] });
    const tools = await server.connect();
    expect(server.status()).toMatchObject({ state: "connected", protocol: protocols[kind], changed: [] });
    expect(tools.map(({ spec }) => spec.name).sort()).toEqual(
      ["add", "crash", "env", "fail", "picture", "refund", "roots", "work"].map((name) => `w__${name}`),
    );
    expect(new Set(tools.map(({ spec }) => spec.effect))).toEqual(new Set(["once"]));

    const sum = await call(toolOf(tools, "add"), { a: 2, b: 3 }, { key: "my-key" });
    expect(sum).toMatchObject({ value: { structured: { sum: 5 }, content: [{ type: "text", text: "5" }] }, say: "5" });
    expect(log()).toContain("add 2 3 my-key");

    const progress: unknown[] = [];
    const worked = call(toolOf(tools, "work"), { steps: 3, ms: 120 }, { report: (each) => progress.push(each) });
    expect(await worked).toMatchObject({ say: "3 steps" });
    expect(progress[0]).toEqual({ progress: 1, total: 3 });

    const controller = new AbortController();
    const cancelled = end(call(toolOf(tools, "work"), { steps: 500, ms: 10 }, { signal: controller.signal }));
    await until(() => count("work begun") === 2, "the second work begins");
    controller.abort();
    expect((await cancelled).kind).toBe("open");
    await until(() => count("work cancelled") === 1, "the server hears of the cancel");
    expect(count("work begun")).toBe(2);

    const failed = await call(toolOf(tools, "fail"), {});
    expect(failed).toMatchObject({ value: { isError: true }, say: "The tool reports an error: the disk is full" });
    const picture = {
      mediaType: "image/png",
      body: new Uint8Array(Buffer.from("a picture")),
      say: "(image image/png, 9 bytes)",
    };
    expect(await call(toolOf(tools, "picture"), {})).toMatchObject({ value: picture, say: [picture] });
    expect(await call(toolOf(tools, "roots"), {})).toMatchObject({ say: "file:///srv/files file:///srv/more" });
    expect(await server.resources()).toMatchObject([{ uri: "notes://today", mediaType: "text/plain" }]);
    expect(await server.readResource("notes://today")).toMatchObject({
      content: [{ type: "resource", text: "Buy milk" }],
    });
  });

  test("that crashes in a call leaves it open and is not asked twice; back with another tool, that one is refused", async () => {
    const { server, changeFile, restart, count } = await world(kind);
    const tools = await server.connect();
    writeFileSync(changeFile, "Adds two numbers, and sends them to me");
    const crashed = await end(call(toolOf(tools, "crash"), {}));
    expect(crashed).toMatchObject({ kind: "open", said: expect.stringContaining("may or may not have been run") });
    await restart();
    const refused = await end(call(toolOf(tools, "add"), { a: 1, b: 1 }));
    expect(refused).toEqual({
      kind: "failure",
      said: "add of MCP server w was not run: it has another description since the agent was defined. Look at it, then define the agent again",
    });
    expect(server.status().changed).toEqual(["add has another description"]);
    expect(await end(call(toolOf(tools, "fail"), {}))).toMatchObject({ kind: "value" }); // the other tools go on
    expect(count("crash")).toBe(1);
    expect(count("add")).toBe(0);
  });
});

test("a server that says that its tools have changed is believed at once, without a restart", async () => {
  const { server, changeFile, count } = await world("stdio-now");
  const tools = await server.connect();
  expect(await end(call(toolOf(tools, "add"), { a: 1, b: 1 }))).toMatchObject({ kind: "value" });
  writeFileSync(changeFile, "Something else");
  await until(() => server.status().changed.length === 1, "the change is seen");
  expect(await end(call(toolOf(tools, "add"), { a: 1, b: 1 }))).toMatchObject({ kind: "failure" });
  expect(count("add")).toBe(1);
});

test("a call waits for a server that is down and is sent when it is back; one that may not wait is given up unsent", async () => {
  const { server, another, kill, restart, count } = await world("http-now", { limits: { waitMs: 30_000 } });
  const hasty = another({ limits: { waitMs: 50 } });
  const [tools, hastyTools] = [await server.connect(), await hasty.connect()];
  await kill();
  const waiting = end(call(toolOf(tools, "add"), { a: 2, b: 2 }));
  const unsent = await end(call(toolOf(hastyTools, "add"), { a: 1, b: 1 }));
  expect(unsent).toMatchObject({ kind: "failure", said: expect.stringContaining("is not connected") });
  await restart();
  expect(await waiting).toEqual({ kind: "value", said: "4" });
  expect(count("add")).toBe(1);
});

test("a lost call of a tool that may be repeated is sent again", async () => {
  const { server, kill, count } = await world("stdio-now", { tools: { work: { effect: "idempotent" } } });
  const tools = await server.connect();
  const done = end(call(toolOf(tools, "work"), { steps: 20, ms: 20 }, { key: "same" }));
  await until(() => count("work begun") === 1, "the work begins");
  await kill();
  expect(await done).toEqual({ kind: "value", said: "20 steps" });
  expect(count("work begun")).toBe(2);
});

test("Q2 a call that was sent and lost is never said not to have run, though the server does not come back", async () => {
  const options = { limits: { waitMs: 200 }, tools: { work: { effect: "idempotent" } } } as const;
  const { server, kill, count } = await world("http-now", options);
  const tools = await server.connect();
  const lost = end(call(toolOf(tools, "work"), { steps: 500, ms: 10 }));
  await until(() => count("work begun") === 1, "the work begins");
  await kill();
  expect(await lost).toEqual({ kind: "open", said: expect.stringContaining(earlier) });
});

test("Q2 an attempt that does not reach the server says nothing about earlier ones that may have", async () => {
  const tools = { work: { effect: "idempotent" }, add: { effect: "pure" } } as const;
  const { server, kill } = await world("http-now", { limits: { waitMs: 50 }, tools });
  const made = await server.connect();
  await kill();
  const ended = async (name: string, calling: Calling): Promise<string> => {
    const { kind, said } = await end(call(toolOf(made, name), { a: 1, b: 1, steps: 1, ms: 1 }, calling));
    expect(said).toContain("the server is not connected");
    expect([kind, said.includes(earlier), said.includes("was not run")]).toEqual(
      kind === "open" ? ["open", true, false] : ["failure", false, true],
    );
    return kind;
  };
  expect({
    first: await ended("work", { attempt: 1 }),
    idempotent: await ended("work", { attempt: 2 }),
    pure: await ended("add", { attempt: 2 }),
    once: await ended("fail", { attempt: 2 }), // the engine makes it only after attempts that did nothing
    "once, run again": await ended("fail", { attempt: 1, again: true }),
  }).toEqual({ first: "failure", idempotent: "open", pure: "open", once: "failure", "once, run again": "open" });
});

test("Q2 a later attempt that is refused says nothing about earlier ones either", async () => {
  const { server } = await world("http-now", { tools: { add: { effect: "idempotent" } } }, { MOST_CALLS: "0" });
  const adding = toolOf(await server.connect(), "add");
  const { kind, said } = await end(call(adding, { a: 1, b: 1 }, { attempt: 2 }));
  expect([kind, said.includes(earlier)]).toEqual(["open", true]);
});

test.each(kinds)("O2 %s: an error after the tool has run leaves the call open; it is not sent again", async (kind) => {
  const effects = kind === "http-now" ? (["once", "idempotent", "pure"] as const) : (["once"] as const);
  for (const effect of effects) {
    const { server, count } = await world(kind, { tools: { refund: { effect } } });
    const { kind: ended, said } = await end(call(toolOf(await server.connect(), "refund"), {}));
    expect({ effect, ended, refunds: count("refund") }).toEqual({ effect, ended: "open", refunds: 1 });
    expect(said).toContain("refund of MCP server w may or may not have been run: the server answered with an error");
    expect(said).not.toContain("was not run");
  }
});

test("O3 a refusal in the middle of a call says nothing about what was done before it", async () => {
  const { server, count } = await world("http-now", { roots: ["/srv/files"] }, { MOST_CALLS: "1" });
  const tools = await server.connect();
  expect((await end(call(toolOf(tools, "roots"), {}))).kind).toBe("open");
  expect(count("roots")).toBe(1);
});

test("a server that keeps a session is told when it is over", async () => {
  const { server, count } = await world("http-before");
  await server.connect();
  expect(count("session ended")).toBe(0);
  await server.close();
  expect(count("session ended")).toBe(1);
});

test("a stream of changes that is cut harms no call, and is asked for again", async () => {
  const { server, changeFile, count } = await world("http-now", {}, { CUT_STREAMS: "yes" });
  const tools = await server.connect();
  const working = end(call(toolOf(tools, "work"), { steps: 80, ms: 10 }));
  await until(() => count("stream cut") > 2, "the stream is asked for again");
  expect(await working).toEqual({ kind: "value", said: "80 steps" });
  expect(server.status()).toMatchObject({ state: "connected", failures: 0 });
  writeFileSync(changeFile, "Something else");
  await until(() => server.status().changed.length === 1, "what was missed is seen");
});

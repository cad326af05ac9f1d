/** Programs that are started: what they are given, what is said about them, and that none is left. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { secret } from "holdfast";
import { mcpServer } from "holdfast/mcp";
import { expect, onTestFinished, test } from "vitest";
import { call, end, liar, script, startHttp, toolOf, until } from "./world.ts";

const canary = "canary-7f3a9c";

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test("a program gets what it is given and what every program needs, nothing else", async () => {
  process.env.HOLDFAST_TEST_SECRET = canary;
  onTestFinished(() => void delete process.env.HOLDFAST_TEST_SECRET);
  const env = { GIVEN: "plain", TOKEN: secret("hidden-token-1") };
  const server = mcpServer({ name: "w", stdio: { command: process.execPath, args: [script("stdio-now")], env } });
  onTestFinished(() => server.close());
  const tools = await server.connect();
  const { said } = await end(call(toolOf(tools, "env"), {}));
  expect(said).not.toContain(canary);
  expect(JSON.parse(said)).toMatchObject({ GIVEN: "plain", TOKEN: "[secret]", PATH: process.env.PATH });
});

test.each([
  ["stays", "it does not end by itself"],
  ["nothing", "it ends when its input does"],
])("close() ends a program (%s) and all that it has started", async (wrong) => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-mcp-"));
  const pids = join(folder, "pids");
  // A shell that starts the server and something else, as `npx` would.
  const shell = join(folder, "start.sh");
  writeFileSync(
    shell,
    `sleep 300 & echo $! >> ${pids}\n"${process.execPath}" "${script("liar")}" ${wrong} <&0 & echo $! >> ${pids}\nwait\n`,
  );
  const server = mcpServer({ name: "w", stdio: { command: "sh", args: [shell] }, limits: { closeMs: 100 } });
  onTestFinished(() => server.close());
  // A shell gives its children no input of its own, so the server is never ready: what counts is who is left.
  const connecting = server.connect().catch(() => undefined);
  await until(() => existsSync(pids) && readFileSync(pids, "utf8").trim().split("\n").length === 2, "both run");
  const started = readFileSync(pids, "utf8").trim().split("\n").map(Number);
  expect(started.every(isRunning)).toBe(true);
  await server.close();
  await connecting;
  await until(() => !started.some(isRunning), "neither is left");
});

test("a program that is stopped answers nobody; its call is given up, and close() ends it", async () => {
  const pidFile = join(mkdtempSync(join(tmpdir(), "holdfast-mcp-")), "pid");
  const stdio = { command: process.execPath, args: [script("liar"), "nothing"], env: { PID_FILE: pidFile } };
  const server = liar([], { stdio });
  const tools = await server.connect();
  const pid = Number(readFileSync(pidFile, "utf8"));
  process.kill(pid, "SIGSTOP");
  const ended = end(call(toolOf(tools, "echo"), {}, { signal: AbortSignal.timeout(100) }));
  expect(await ended).toMatchObject({ kind: "open" });
  await server.close();
  expect(isRunning(pid)).toBe(false);
});

test("a program is ended with the process that has started it, even one that does not end with its input", async () => {
  const pidFile = join(mkdtempSync(join(tmpdir(), "holdfast-mcp-")), "pid");
  const stdio = { command: process.execPath, args: [script("liar"), "stays"], env: { PID_FILE: pidFile } };
  const code = `
    import { mcpServer } from "holdfast/mcp";
    await mcpServer({ name: "w", stdio: ${JSON.stringify(stdio)} }).connect();
    process.exit(0);`;
  const root = join(import.meta.dirname, "../..");
  execFileSync(process.execPath, ["--conditions=holdfast-source", "--input-type=module", "-e", code], { cwd: root });
  const pid = Number(readFileSync(pidFile, "utf8"));
  await until(() => !isRunning(pid), "it has ended");
});

test("a wrong command is said, without its arguments", async () => {
  const server = mcpServer({ name: "w", stdio: { command: "no-such-program", args: [`--token=${canary}`] } });
  const cause: unknown = await server.connect().catch((thrown: unknown) => thrown);
  expect(cause).toMatchObject({
    code: "mcp-unreachable",
    message: "MCP server w (no-such-program) cannot be used: the program cannot be started (ENOENT)",
  });
  expect(inspect(cause, { depth: 9, showHidden: true })).not.toContain(canary);
  expect(inspect(server.status())).not.toContain(canary);
});

test("V2 a token that a program was given is in no error, whatever it writes", async () => {
  const env = { TOKEN: canary };
  const args = (wrong: string): readonly string[] => [script("liar"), wrong, wrong === "dies" ? "initialize" : ""];
  for (const wrong of ["dies", "refuses", "inner-error"]) {
    const server = liar([], { stdio: { command: process.execPath, args: args(wrong), env } });
    const words = await server.connect().then(
      async (tools) => (await end(call(toolOf(tools, "echo"), {}))).said,
      (cause: unknown) => inspect(cause, { depth: 9, showHidden: true }),
    );
    expect(words).toContain("[secret]");
    expect(words).not.toContain(canary);
    expect(inspect(server.status(), { depth: 9 })).not.toContain(canary);
  }
});

test("headers reach the server and no error", async () => {
  const { child, port } = await startHttp("http-now", { TOKEN: canary });
  onTestFinished(() => void child.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}/mcp?key=${canary}`;
  const right = mcpServer({ name: "w", http: { url, headers: { authorization: secret(`Bearer ${canary}`) } } });
  onTestFinished(() => right.close());
  expect(await end(call(toolOf(await right.connect(), "add"), { a: 1, b: 2 }))).toEqual({ kind: "value", said: "3" });

  const wrong = mcpServer({ name: "w", http: { url, headers: { authorization: `Bearer wrong-${canary}` } } });
  const cause: unknown = await wrong.connect().catch((thrown: unknown) => thrown);
  expect(cause).toMatchObject({ code: "mcp-unreachable", message: expect.stringContaining(`127.0.0.1:${port}/mcp)`) });
  expect(inspect(cause, { depth: 9, showHidden: true })).not.toContain(canary);
});

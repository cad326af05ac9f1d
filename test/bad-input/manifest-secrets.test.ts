/** Secrets in what is stored with a run: configs of plugins, and whatever a start brings. */
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { type Agent, agent, createRuntime, memory, plugin, Secret, secret, tool } from "../../src/index.ts";
import { scripted } from "../../src/providers/scripted.ts";

const logger = { warn: () => undefined, note: () => undefined };
const seen: unknown[] = [];
const guard = plugin({
  name: "guard",
  config: z.object({ key: z.union([z.string(), z.instanceof(Secret)]).optional(), limit: z.number() }).loose(),
  create: (config) => {
    seen.push(config.key);
    return {};
  },
});

function keeper(config: object, more: Partial<Parameters<typeof agent>[0]> = {}): Agent<unknown> {
  const plugins = [guard({ limit: 1, ...config } as never)];
  return agent({ name: "keeper", model: scripted(["Done."]), instructions: "", plugins, ...more });
}

test.each([
  ["sk-ant-api03-abcdefghijklmnop", "an API key"],
  ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", "an API key"],
  ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc123", "an API key"],
  ["Bearer abcdef123456", "a login"],
  ["postgres://app:hunter2@db.internal/app", "a login"],
  ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "a private key"],
])("a config that holds %s is refused by its place, and the error does not repeat it", (key, kind) => {
  for (const [config, path] of [
    [{ key }, "config.key"],
    [{ deep: [{ token: key }] }, "config.deep[0].token"],
  ] as const) {
    const refused = (() => {
      try {
        return keeper(config) && "";
      } catch (cause) {
        return String(cause);
      }
    })();
    expect(refused).toContain(`plugins[0]: the config of guard would be stored, and ${path} looks like ${kind}`);
    expect(refused).not.toContain(key);
  }
});

test.each([
  "pk_lookup_customers", // the name of a tool
  "Never repeat keys like sk-ant-api03-abcdefghijklmnop to anyone",
  "https://example.com/a/b",
  "a",
  "",
])("a config that says %j is one like any other", (text) => {
  expect(() => keeper({ key: text })).not.toThrow();
});

test("a Secret in a config is not in the manifest; another key is the same fingerprint", async () => {
  const runtime = await createRuntime({ logger });
  onTestFinished(() => runtime.close());
  const [one, two] = [keeper({ key: secret("canary-one") }), keeper({ key: secret("canary-two") })];
  expect(JSON.stringify(runtime.manifest(one))).not.toContain("canary");
  expect(runtime.manifest(one)).toEqual(runtime.manifest(two));
});

test("a pinned run whose config had a secret is not given the mark in its place", async () => {
  const store = memory();
  const desk = await createRuntime({ store, logger });
  onTestFinished(() => desk.close());
  const before = keeper({ key: secret("canary-one") });
  const run = await desk.start(before, "go");
  seen.length = 0;
  const after = keeper({ key: secret("canary-two"), limit: 2 });
  const worker = await createRuntime({ store, agents: [after], logger, pollMs: 20 });
  onTestFinished(() => worker.close());
  await vi.waitFor(async () => {
    const [ticket] = await desk.tickets.list({ kind: "missing-capability", status: "open" });
    expect(ticket?.prompt).toContain("plugin guard@1 with the config it had, which has code or a secret in it");
  });
  expect(seen).toEqual([]);
  await run.cancel();
  expect((await run.result()).outcome).toBe("cancelled");
});

test("a Secret in a model's description, an input or a context is refused or left out, never stored", async () => {
  const model = { ...scripted(["Done."]), description: { provider: "p", model: "m", apiKey: secret("canary-three") } };
  const runtime = await createRuntime({ logger });
  onTestFinished(() => runtime.close());
  expect(JSON.stringify(runtime.manifest(keeper({}, { model })).declared.model)).toBe('{"provider":"p","model":"m"}');
  const withContext = keeper({}, { context: z.any() });
  await expect(
    runtime.start(withContext, "go", { context: { key: secret("canary-four") } as never }),
  ).rejects.toMatchObject({ code: "invalid-input" });
  expect(await runtime.runs.count()).toBe(0);
});

test("a schema that cannot be converted is refused when the tool or the agent is defined, with all the rest", () => {
  const act = () => tool({ name: "a b", description: "", input: z.object({ when: z.date() }), execute: () => "" });
  expect(act).toThrow(/input: cannot be converted to JSON Schema/);
  expect(act).toThrow(/name: must match/);
  const made = () =>
    agent({
      name: "a b",
      model: scripted([]),
      instructions: "",
      context: z.object({ n: z.bigint() }),
      output: z.date(),
    });
  for (const problem of ["name: must match", "context: cannot be converted", "output: cannot be converted"]) {
    expect(made).toThrow(problem);
  }
});

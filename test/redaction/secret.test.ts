import { inspect } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { toJson } from "../../src/domain/json.ts";
import { manifestOf } from "../../src/domain/manifest.ts";
import { agent, plugin, Secret, secret } from "../../src/index.ts";
import { nodeHash } from "../../src/platform/node-hash.ts";
import { scripted } from "../../src/testing.ts";

const value = "hunter-2-canary";

test.each([
  ["String", (it: Secret) => String(it)],
  ["toString", (it: Secret) => it.toString()],
  ["a template", (it: Secret) => `${it}`],
  ["adding", (it: Secret) => `key: ${it as unknown as string}`],
  ["JSON", (it: Secret) => JSON.stringify({ it })],
  ["inspect", (it: Secret) => inspect({ it }, { showHidden: true, depth: 9, getters: true })],
  ["keys", (it: Secret) => JSON.stringify([Object.keys(it), Object.entries(it), { ...it }])],
  ["a for-in walk", (it: Secret) => [...walk(it)].join()],
  ["own properties", (it: Secret) => inspect(Object.getOwnPropertyDescriptors(it))],
  ["a structured clone", (it: Secret) => inspect(structuredClone({ it }))],
  ["an error", (it: Secret) => inspect(new Error(`refused: ${it}`, { cause: it }))],
])("S1: a secret does not show itself in %s", (_name, write) => {
  expect(write(secret(value))).not.toContain(value);
  expect(secret(value).reveal()).toBe(value);
});

function* walk(it: object): Iterable<string> {
  for (const key in it) yield `${key}=${String((it as Record<string, unknown>)[key])}`;
}

test("S2: a secret never becomes JSON of ours, and the refusal says where it was", () => {
  const answer = toJson({ headers: [{ authorization: secret(value) }] });
  expect(answer).toEqual({
    ok: false,
    path: "$.headers[0].authorization",
    problem: "a secret, which is not written down",
  });
});

test.each([[""], [7], [undefined], [{}]])("a secret is text that is not empty, not %j", (given) => {
  expect(() => secret(given as string)).toThrow(/A secret cannot be made: value: must be a string that is not empty/);
});

test("a plugin's config may hold a secret; its code gets it, and the manifest only says that it is there", () => {
  const mailer = plugin({ name: "mailer", config: z.object({ host: z.string(), key: z.instanceof(Secret) }) });
  const options = { name: "a", instructions: "", model: scripted([]) };
  const used = agent({ ...options, plugins: [mailer({ host: "mail", key: secret(value) })] });
  const other = agent({ ...options, plugins: [mailer({ host: "mail", key: secret("another") })] });
  const { declared, fingerprint } = manifestOf(used, nodeHash);
  expect(declared.plugins?.[0]?.config).toEqual({ host: "mail", key: "(secret)" });
  expect(manifestOf(other, nodeHash).fingerprint).toBe(fingerprint); // a rotated key is no other behaviour
  expect((used.plugins[0]?.config as { key: Secret } | undefined)?.key.reveal()).toBe(value);
});

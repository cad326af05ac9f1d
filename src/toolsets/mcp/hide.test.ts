/** What is hidden of what a server repeats: V1 to V3. */
import { expect, test } from "vitest";
import { secret } from "../../domain/secret.ts";
import { hidingOf } from "./hide.ts";
import type { McpStdio } from "./options.ts";

function words(stdio: Omit<McpStdio, "command">, said: string): string {
  return hidingOf({ name: "w", stdio: { command: "node", ...stdio } }).words(said);
}

test("V1 secrets are hidden in words and in results, however short and wherever given", () => {
  const { words: said, result } = hidingOf({
    name: "w",
    stdio: { command: "node", args: [secret("abc")], env: { A: secret("Bearer hidden-1") } },
  });
  expect(said("abc hidden-1 Bearer hidden-1")).toBe("[secret] [secret] [secret]");
  expect(result("abc hidden-1")).toBe("[secret] [secret]");
});

test.each([
  [{ env: { API_KEY: "k-12345" } }, "k-12345"],
  [{ env: { githubToken: "t-12345" } }, "t-12345"],
  [{ env: { PGPASSWORD: "correct horse" } }, "correct horse"],
  [{ env: { ANYTHING: "ghp_16C7e42F292c6912E7710c83" } }, "ghp_16C7e42F292c6912E7710c83"],
  [{ env: { DATABASE_URL: "postgres://me:pass-word@db/x" } }, "pass-word"],
  [{ args: ["--token=t-12345"] }, "t-12345"],
  [{ args: ["--api-key", "k-12345"] }, "k-12345"],
])("V2 a plain credential is hidden in words: %j", (stdio, value) => {
  expect(words(stdio, `not with ${value}.`)).toBe("not with [secret].");
});

test("V2 headers and the query of an address are looked at in the same way", () => {
  const headers = { authorization: "Bearer a-12345", "x-tenant": "acme-corp" };
  const { words: said } = hidingOf({ name: "w", http: { url: "http://h/mcp?key=q-12345&region=europe-1", headers } });
  expect(said("a-12345 q-12345 acme-corp europe-1")).toBe("[secret] [secret] acme-corp europe-1");
});

test.each([
  [{ env: { CALL: "refuse" } }, "the server refused it"],
  [{ env: { AUTH: "required" } }, "a name is required"],
  [{ env: { KEY_FILE: "/etc/notes/key.pem" } }, "cannot read /etc/notes/key.pem"],
  [{ env: { MODEL: "small-model-4-5-20250929" } }, "no model small-model-4-5-20250929"],
  [{ args: ["server.ts"] }, "Cannot find module '/srv/server.ts'"],
  [{ args: ["--no-auth", "dist/server.js"] }, "Cannot find module 'dist/server.js'"],
  [{ args: ["/srv/4f9c1e2d3b4a59687706f5e4/server.ts"] }, "no /srv/4f9c1e2d3b4a59687706f5e4/server.ts"],
  [{ args: ["@scope/notes-server@2025.4.8", "--port", "8080000"] }, "no @scope/notes-server@2025.4.8 at 8080000"],
])("V3 plain words and paths stay: %j", (stdio, said) => {
  expect(words(stdio, said)).toBe(said);
});

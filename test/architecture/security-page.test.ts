/** The security page's table of what is in clear where is the one that the canaries are held against. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { inTheOpen, type Place, type Source, sources } from "../redaction/canary-sources.ts";

const page = readFileSync(resolve(import.meta.dirname, "../../docs/explanation/security.md"), "utf8");

const words: Readonly<Record<Source, string>> = {
  user: "the message that starts a run",
  file: "names and bytes of files that come with it",
  sent: "messages sent later",
  context: "the context of a start",
  model: "what the model says",
  reasoning: "its reasoning",
  input: "inputs of tools",
  result: "results of tools",
  large: "large results, as far as the model reads them",
  deep: "the rest of them",
  progress: "what tools report on their way",
  failure: "what a `ToolFailure` says",
  thrown: "what other errors of tools and schemas say",
  cause: "what caused an error",
  stack: "the stack of an error in a run",
  header: "headers of requests, repeated by somebody",
  fault: "what a provider answers when it fails",
  config: "configs of plugins, repeated by their errors",
  state: "values of state keys",
  added: "what plugins add to the context",
  policy: "why a policy denies",
  prompt: "what a person is asked",
  answer: "answers to tickets",
  edit: "edits of inputs",
  reason: "reasons of rejections and cancels",
  decision: "decisions on unknown outcomes",
  schema: "what a schema says of a value that it refuses",
  sink: "what a sink throws",
  output: "validated outputs",
  secret: "a key in a plain string",
};
const columns: readonly Place[] = ["logs", "traces", "errors", "sinks", "events"];

function rowOf(source: Source): string {
  const cells = columns.map((place) => (inTheOpen[source].includes(place) ? "yes" : "–"));
  return `| ${words[source]} | ${cells.join(" | ")} |`;
}

test("the security page says of every kind of words where they are in clear when nobody hides them", () => {
  const from = page.indexOf("| What | Logs |");
  const rows = page.slice(from).split("\n\n")[0]?.split("\n").slice(2);
  expect(rows).toEqual(sources.map(rowOf));
  expect(sources.some((source) => inTheOpen[source].includes("metrics"))).toBe(false); // as the page says
});

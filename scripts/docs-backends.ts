// Writes the table of capabilities in docs/how-to/backends.md. `--check` writes nothing and fails when it differs.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { a2aCapabilities } from "../src/backends/a2a/capabilities.ts";
import { type Capabilities, fullCapabilities, remoteStatelessText } from "../src/domain/backend/capabilities.ts";

const path = resolve(import.meta.dirname, "../docs/how-to/backends.md");

const words: Readonly<Record<keyof Capabilities, string>> = {
  cancellation: "how its work is stopped: by the turn's signal, by a request to the other side, or both",
  decisions: "takes answers to tickets of its own calls",
  overrides: "takes other model settings for one run",
  frontendTools: "takes tools that have no code here",
  continuation: "whose state a run is continued from after a wait",
  waits: "what it can wait for without failing; each is a ticket",
  transcript: "what it reads of the conversation",
  output: "what it gives back",
  persistence: "whether what it began can be found after this process is gone",
};

const columns: Readonly<Record<string, Capabilities>> = {
  "in-process": fullCapabilities,
  a2a: a2aCapabilities,
  "one that says nothing": remoteStatelessText,
};

function shown(value: string | boolean): string {
  return typeof value === "boolean" ? (value ? "yes" : "no") : `\`${value}\``;
}

const fields = Object.keys(fullCapabilities) as (keyof Capabilities)[];
const table = [
  `| Capability | Says | ${Object.keys(columns).join(" | ")} |`,
  `|---|---|${Object.keys(columns)
    .map(() => "---|")
    .join("")}`,
  ...fields.map((field) => {
    const cells = Object.values(columns).map((each) => shown(each[field]));
    return `| \`${field}\` | ${words[field]} | ${cells.join(" | ")} |`;
  }),
].join("\n");

const [begin, end] = ["<!-- Written by scripts/docs-backends.ts. -->", "<!-- end -->"];
const page = readFileSync(path, "utf8");
const [before = "", rest = ""] = page.split(begin);
const [, after = ""] = rest.split(end);
const written = `${before}${begin}\n${table}\n${end}${after}`;

if (!process.argv.includes("--check")) {
  if (written !== page) writeFileSync(path, written);
  console.log(`docs/how-to/backends.md: ${fields.length} capabilities${written === page ? "" : ", updated"}`);
} else if (written !== page) {
  console.error('docs/how-to/backends.md differs from the capabilities; run "npx node scripts/docs-backends.ts"');
  process.exitCode = 1;
}

// Writes docs/reference/phases.md from the engine's table of phases. `--check` writes nothing and fails when it differs.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { CommandType } from "../src/domain/command.ts";
import { commandLimits, commandTypes } from "../src/domain/command-shape.ts";
import type { Phase } from "../src/domain/phase.ts";
import { defaultLimits } from "../src/engine/limits.ts";
import { type PhaseRow, phaseTable } from "../src/engine/phases.ts";
import { call, commands, extras, failures, run, view, when } from "./docs/phase-words.ts";

const path = resolve(import.meta.dirname, "../docs/reference/phases.md");
const all = Object.entries(phaseTable) as [Phase, PhaseRow][];

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((cells) => `|${cells.map((cell) => (cell === "" ? " " : ` ${cell} `)).join("|")}|`);
  return [lines[0], `|${"---|".repeat(head.length)}`, ...lines.slice(1)].join("\n");
}

const code = (text: string): string => `\`${text}\``;
const list = (names: readonly string[]): string => (names.length === 0 ? "none" : names.map(code).join(", "));

function fieldRows(described: readonly [string, Readonly<Record<string, string>>], type: CommandType): string[][] {
  const [means, fields] = described;
  const rows = Object.entries(fields).map(([name, says]) => ["", code(name), says]);
  return [[code(type), "", means], ...rows];
}

function extraRows(phase: Phase): string[][] {
  return Object.entries(extras[phase]).map(([name, says], index) => [index === 0 ? code(phase) : "", code(name), says]);
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}

const page = `<!-- Written by scripts/docs-phases.ts from src/engine/phases.ts. -->

# Phases and commands

A phase is a named moment of a run at which plugins are asked. A hook gets a view and answers with commands, or with nothing
([write a plugin](../how-to/write-a-plugin.md)). Where each phase lies in a step is a [picture](../explanation/lifecycle.md#phases).

## Phases

In the order in which a run meets them; the last two come whenever they come.

${table(
  ["Phase", "When", "About", "Kind", "If a hook fails", "Deadline"],
  all.map(([phase, row]) => [code(phase), when[phase], row.about, row.kind, code(row.failure), code(row.deadline)]),
)}

The deadline is one for all hooks of the moment together: ${code("phaseTimeoutMs")} is ${seconds(defaultLimits.phaseTimeoutMs)} and ${code("graceMs")} ${seconds(defaultLimits.graceMs)} unless you
[change them](config.md#limits). A hook that answers at once sets no timer.

A hook fails when it throws, is late, answers something that is no command, asks for a command that its phase does not allow, or writes state that does not fit. Then nothing of what any plugin said at that moment is taken:

${table(
  ["Rule", "Means"],
  Object.entries(failures).map(([rule, means]) => [code(rule), means]),
)}

## What each phase allows

${table(
  ["Phase", "Commands"],
  all.map(([phase, row]) => [code(phase), list(row.commands)]),
)}

## Commands

Plain objects: ${code("{ type, … }")}. A field with a question mark may be left out.

${table(
  ["Command", "Field", "Means"],
  commandTypes.flatMap((type) => fieldRows(commands[type], type)),
)}

One hook answers ${commandLimits.perHook} commands at most. A text has ${commandLimits.textBytes / 1024} KiB at most. A run holds ${commandLimits.contexts} context messages and ${commandLimits.scheduled} scheduled commands at most.

Of several plugins that set the same exclusive state key, the same input or the same result, the first one by registration is taken; each other one is asked once more, on what has been merged by then.
At the gate deny beats ask, ask beats a result, a result beats another input.

## What a hook sees

Nothing of a view can be changed, and none of it changes while the hook works.

${table(
  ["View", "Means"],
  Object.entries(view).map(([name, says]) => [code(name), says]),
)}

Some phases have more:

${table(
  ["Phase", "Field", "Means"],
  all.flatMap(([phase]) => extraRows(phase)),
)}

### The run

Also the second argument of ${code("create")}.

${table(
  ["Field", "Means"],
  Object.entries(run).map(([name, says]) => [code(name), says]),
)}

### A call

${table(
  ["Field", "Means"],
  Object.entries(call).map(([name, says]) => [code(name), says]),
)}
`;

const fits = existsSync(path) && readFileSync(path, "utf8") === page;
if (!process.argv.includes("--check")) {
  if (!fits) writeFileSync(path, page);
  console.log(
    `docs/reference/phases.md: ${all.length} phases, ${commandTypes.length} commands${fits ? "" : ", updated"}`,
  );
} else if (!fits) {
  console.error('docs/reference/phases.md differs from the table of phases; run "npx node scripts/docs-phases.ts"');
  process.exitCode = 1;
}

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { type Answer, busyTable, type Choice, type RunStands } from "../threads/busy-table.ts";

const page = readFileSync(resolve(import.meta.dirname, "../../docs/how-to/busy-threads.md"), "utf8");

/** How the page calls what the table's own test has seen. */
const stands: Readonly<Record<RunStands, string>> = {
  created: "`created`",
  model: "`running`",
  tool: "`running`",
  approval: "waits on `approval`",
  input: "waits on `input`",
  "unknown-outcome": "waits on `unknown-outcome`",
  pause: "waits on `pause`",
  timer: "waits on `timer`",
  quarantined: "waits on `quarantined`",
};
const choices: Readonly<Record<Choice, string>> = {
  default: "unless said",
  queue: "`queue`",
  steer: "`steer`",
  interrupt: "`interrupt`",
  supersede: "`supersede`",
  reject: "`reject`",
};
const answers: Readonly<Record<Answer, string>> = {
  queued: "queued",
  answers: "answers",
  steered: "steered",
  interrupted: "interrupted",
  superseded: "superseded",
  busy: "refused",
};

test("the page on busy threads has the whenBusy table that the code keeps", () => {
  const names = Object.keys(choices) as Choice[];
  const head = row(["The run", ...names.map((name) => choices[name])]);
  const rows = (Object.keys(stands) as RunStands[]).map((name) =>
    row([stands[name], ...names.map((choice) => answers[busyTable[name][choice]])]),
  );
  const line = "|---|---|---|---|---|---|---|";
  expect(page).toContain(`\n${[head, line, ...new Set(rows)].join("\n")}\n\n`);
});

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

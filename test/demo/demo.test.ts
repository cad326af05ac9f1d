/** The demo as a stranger runs it, compared with what README shows of it. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "vitest";

const timeout = 120_000;
const root = resolve(import.meta.dirname, "../..");

async function play(
  { onTestFinished }: TestContext,
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly lines: string[] }> {
  const script = join(root, "scripts/demo.ts");
  const child = spawn(process.execPath, ["--conditions=holdfast-source", script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGTERM"));
  const closed = new Promise<number | null>((done) => child.once("close", done));
  const said = await text(child.stdout);
  return { code: await closed, lines: said.trimEnd().split("\n") };
}

/** What stays the same from one showing to the next. A line that comes twice in a row counts once. */
function shapeOf(lines: readonly string[]): readonly string[] {
  const shaped = lines.map((line) =>
    line
      .replace(/^ *[\d.]+ s /, "0.0 s ")
      .replace(/^(0\.0 s +\S+ +)\d+ +/, "$1pid ")
      .replace(/key [0-9a-z]{8}…/, "key …")
      .replace(/counted \(\w+\)/, "counted (somebody)"),
  );
  return shaped.filter((line, index) => line !== shaped[index - 1]);
}

test.concurrent("the demo ends with one effect, nothing lost, nothing doubled, and says what README shows", {
  timeout,
}, async (context) => {
  const { expect } = context;
  const { code, lines } = await play(context);
  expect(lines.at(-1)).toBe("effects: 1, lost: 0, duplicated: 0");
  expect(code).toBe(0);
  const [, shown = ""] =
    /<!-- demo -->\n```text\n([^`]+)\n```/.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
  expect(shapeOf(lines)).toEqual(shapeOf(shown.split("\n")));
});

test.concurrent("a tool that drops its key doubles the refund; the checker names it and fails", {
  timeout,
}, async (context) => {
  const { expect } = context;
  const { code, lines } = await play(context, "--sabotage");
  expect(lines.slice(-2)).toEqual([
    "doubled: order 42 was refunded 2 times: receipt-1 over 8000 cents, receipt-2 over 8000 cents",
    "effects: 2, lost: 0, duplicated: 1",
  ]);
  expect(code).toBe(1);
});

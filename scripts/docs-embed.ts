// Copies code into Markdown pages, so that no page shows code which nothing runs.
//
// A fence that follows `<!-- embed: path#region -->` is filled with the lines between `// #region name` and
// `// #endregion name` of that file (path from the repository root), or with the whole file when no region is named.
// `--check` writes nothing and fails when a page differs from its source.
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const marker = /^\s*<!--\s*embed:\s*([^\s#]+)(?:#([\w-]+))?\s*-->\s*$/;
const fence = /^\s*(`{3,}|~{3,})(.*)$/;
const regionLine = /^\s*\/\/\s*#(?:end)?region\b/;

type Page = { readonly text: string; readonly embeds: number; readonly problems: readonly string[] };

function regionOf(lines: readonly string[], name: string): readonly string[] | undefined {
  const start = lines.findIndex((line) => line.trim() === `// #region ${name}`);
  const end = lines.findIndex((line, at) => at > start && line.trim() === `// #endregion ${name}`);
  return start < 0 || end < 0 ? undefined : lines.slice(start + 1, end);
}

function withoutIndent(lines: readonly string[]): string[] {
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  const indent = Math.min(...indents);
  return lines.map((line) => line.slice(Number.isFinite(indent) ? indent : 0));
}

function withoutBlankEdges(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return first < 0 ? [] : lines.slice(first, last + 1);
}

/** The code an embed asks for, or a sentence saying why there is none. */
function codeOf(path: string, region: string | undefined): readonly string[] | string {
  const file = join(root, path);
  if (!existsSync(file)) return `${path} does not exist`;
  const lines = readFileSync(file, "utf8").split(/\r?\n/);
  const chosen = region === undefined ? lines : regionOf(lines, region);
  if (chosen === undefined) return `${path} has no "// #region ${region}" … "// #endregion ${region}"`;
  return withoutBlankEdges(withoutIndent(chosen.filter((line) => !regionLine.test(line))));
}

/** Index of the line that closes the fence opened at `open`; -1 when no fence opens there or it never closes. */
function closingFence(lines: readonly string[], open: number): number {
  const ticks = fence.exec(lines[open] ?? "")?.[1];
  if (ticks === undefined) return -1;
  const closes = (line: string) => line.startsWith(ticks) && line.replaceAll(ticks.charAt(0), "") === "";
  return lines.findIndex((line, at) => at > open && closes(line.trim()));
}

function fenceFor(code: readonly string[]): string {
  const longest = Math.max(2, ...code.map((line) => /^\s*(`+)/.exec(line)?.[1]?.length ?? 0));
  return "`".repeat(longest + 1);
}

/** The lines of an embed's comment and its refilled fence; a problem leaves the fence as it was. */
function refill(lines: readonly string[], at: number, close: number): { lines: string[]; problem: string | undefined } {
  const [, path = "", region] = marker.exec(lines[at] ?? "") ?? [];
  const [, , language = ""] = fence.exec(lines[at + 1] ?? "") ?? [];
  const code = codeOf(path, region);
  if (typeof code === "string") return { lines: lines.slice(at, close + 1), problem: `line ${at + 1}: ${code}` };
  const ticks = fenceFor(code);
  return { lines: [lines[at] ?? "", `${ticks}${language}`, ...code, ticks], problem: undefined };
}

function embed(text: string): Page {
  const lines = text.split("\n");
  const out: string[] = [];
  const problems: string[] = [];
  let embeds = 0;
  let at = 0;
  while (at < lines.length) {
    const asked = marker.test(lines[at] ?? "");
    const close = closingFence(lines, asked ? at + 1 : at);
    if (asked && close >= 0) {
      const filled = refill(lines, at, close);
      out.push(...filled.lines);
      if (filled.problem !== undefined) problems.push(filled.problem);
      embeds += 1;
    } else {
      if (asked) problems.push(`line ${at + 1}: no code fence follows the embed comment`);
      out.push(...lines.slice(at, Math.max(at, close) + 1)); // an embed comment inside an ordinary fence is only shown
    }
    at = Math.max(at, close) + 1;
  }
  return { text: out.join("\n"), embeds, problems };
}

const check = process.argv.includes("--check");
const pages = globSync("**/*.md", {
  cwd: root,
  exclude: (path) => /(^|[\\/])(node_modules|dist|\.git)$/.test(String(path)),
}).sort();
let embeds = 0;
let changed = 0;
let failed = 0;

for (const path of pages) {
  const text = readFileSync(join(root, path), "utf8");
  const page = embed(text);
  embeds += page.embeds;
  for (const problem of page.problems) {
    failed += 1;
    console.error(`${path}: ${problem}`);
  }
  if (page.text === text) continue;
  changed += 1;
  if (check) {
    failed += 1;
    console.error(`${path}: its code differs from the source it embeds; run "npm run docs" and commit the page`);
  } else {
    writeFileSync(join(root, path), page.text);
    console.log(`${path}: updated`);
  }
}

const verb = check ? "differ" : "updated";
console.log(`docs: ${embeds} embeds in ${pages.length} pages, ${changed} ${verb}`);
process.exitCode = failed > 0 ? 1 : 0;

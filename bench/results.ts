/** bench/RESULTS.md: one section per benchmark and store, replaced by the next measurement of the same. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const file = join(root, "bench/RESULTS.md");

const preface = `# Results

Written by \`npm run bench -- <name> --write\`; never edited by hand. Figures of different sections are of different moments: compare
within one.
`;

export interface Section {
  readonly title: string;
  readonly lines: readonly string[];
}

export function writeSection(section: Section): void {
  const text = existsSync(file) ? readFileSync(file, "utf8") : preface;
  writeFileSync(file, withSection(text, section));
}

export function withSection(text: string, { title, lines }: Section): string {
  const [head = "", ...sections] = text.trimEnd().split(/\n+(?=## )/);
  const others = sections.filter((each) => each.split("\n", 1)[0] !== `## ${title}`);
  const written = [`## ${title}`, "", ...lines].join("\n");
  return `${[head, ...[...others, written].toSorted()].join("\n\n")}\n`;
}

export function machineLine(): string {
  const [first] = cpus();
  const gigabytes = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} × ${first?.model.trim() ?? "unknown processor"}, ${gigabytes} GB, ${process.platform}, Node ${process.version}`;
}

export function loadNow(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

/** The newest commit that changed what is measured; "+" says that files differ from it. */
export function commitLine(): string {
  try {
    const commit = git("log", "-1", "--format=%h", "--", "src");
    return git("status", "--porcelain", "--", "src") === "" ? commit : `${commit}+`;
  } catch {
    return "unknown";
  }
}

function git(...args: readonly string[]): string {
  return execFileSync("git", [...args], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

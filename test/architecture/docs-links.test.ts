import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const pages = ["README.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md", ...globSync("docs/**/*.md", { cwd: root })];

test.each(pages.sort())("%s links only to pages and headings that exist", (page) => {
  const text = read(page);
  const dead = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(page, target));
  expect(dead).toEqual([]);
});

/** The tutorial tells its reader to write it. */
const written = "examples/mine.ts";

test.each(pages.sort())("%s names only files of this repository that exist", (page) => {
  const named = [...read(page).matchAll(/`((?:src|test|scripts|examples|docs)\/[\w./-]+\.\w+)`/g)];
  const paths = named.map(([, path = ""]) => path).filter((path) => path !== written);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each(pages.sort())("%s has no path of somebody's machine", (page) => {
  expect(read(page).match(/(?:\/(?:home|Users|work|root|tmp|var|private)\/|[A-Z]:\\)\S*/g) ?? []).toEqual([]);
});

// A fence without an embed is code that nothing runs. Shell lines, pictures and plain text are not program code.
test.each(pages.filter((page) => page === "README.md" || page.startsWith("docs/")))("%s embeds its code", (page) => {
  const lines = read(page).split("\n");
  const typed = lines.filter(
    (line, at) => /^\s*```(?:ts|js|typescript|javascript|tsx)\b/.test(line) && !/<!-- embed:/.test(lines[at - 1] ?? ""),
  );
  expect(typed).toEqual([]);
});

test("every page below docs/ is on the list of pages", () => {
  const listed = [...read("docs/README.md").matchAll(/\]\(([^)#]+)\)/g)].map(([, path = ""]) => `docs/${path}`);
  const missing = pages.filter((page) => page.startsWith("docs/") && !listed.includes(page));
  expect(missing.filter((page) => page !== "docs/README.md" && !page.includes("/decisions/"))).toEqual([]);
});

function leadsSomewhere(page: string, target: string): boolean {
  const [path = "", heading] = target.split("#");
  const file = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(root, file))) return false;
  return heading === undefined || headingsOf(read(file)).includes(heading);
}

function headingsOf(text: string): readonly string[] {
  const titles = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => title);
  return titles.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

function read(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

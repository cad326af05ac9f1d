// Checks what a user would install: builds dist/, packs it, lints the tarball (publint, attw) and imports every subpath
// from the unpacked tarball in a folder that holds nothing but the declared dependencies.
// Run it as `npm run package`: the tools are found through npm's PATH.
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

/** Runs one command; its output is shown only when it fails. */
function step(what: string, command: readonly [string, ...string[]], cwd = root): void {
  const [program, ...args] = command;
  const child = spawnSync(program, args, { cwd, encoding: "utf8", shell: process.platform === "win32" });
  if (child.error || child.status !== 0) {
    console.error(`${child.stdout ?? ""}${child.stderr ?? ""}${child.error?.message ?? ""}`);
    throw new Error(`package: ${what} failed`);
  }
  console.log(`  ✓  ${what}`);
}

function pack(folder: string): string {
  step("pack", ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", folder]);
  const [tarball] = globSync("*.tgz", { cwd: folder });
  if (tarball === undefined) throw new Error("package: npm pack wrote no tarball");
  return join(folder, tarball);
}

/** Unpacks the tarball as an installed package, beside links to its declared dependencies and to nothing else. */
function install(tarball: string, folder: string): void {
  const target = join(folder, "node_modules", manifest.name);
  mkdirSync(target, { recursive: true });
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", name), link, "junction");
  }
  step("unpack", ["tar", "-xzf", tarball, "-C", target, "--strip-components=1"]);
}

function importEach(folder: string): void {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  for (const subpath of Object.keys(manifest.exports)) {
    const specifier = join(manifest.name, subpath).replaceAll("\\", "/");
    const attributes = specifier.endsWith(".json") ? ` with { type: "json" }` : "";
    const file = join(folder, "consumer.mjs");
    writeFileSync(
      file,
      `import * as names from "${specifier}"${attributes};\nif (Object.keys(names).length === 0) throw new Error("${specifier} exports nothing");\n`,
    );
    step(`import "${specifier}"`, [process.execPath, file], folder);
  }
}

const folder = mkdtempSync(join(tmpdir(), "holdfast-package-"));
try {
  step("build", ["npm", "run", "--silent", "build"]);
  const tarball = pack(folder);
  step("publint", ["publint", "run", tarball, "--strict"]);
  step("attw", ["attw", tarball, "--profile", "esm-only", "--no-definitely-typed", "--no-color"]);
  install(tarball, folder);
  importEach(folder);
  console.log(`package: ${Object.keys(manifest.exports).length} subpaths import from the packed tarball`);
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : cause);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

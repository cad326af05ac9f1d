/** Pools that are broken on purpose, in their own source: the random sequences must notice each of them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { type MakePool, runSequences } from "./campaign.ts";

const source = resolve(import.meta.dirname, "../../src");
const copies = mkdtempSync(join(tmpdir(), "holdfast-pool-mutants-"));
afterAll(() => rmSync(copies, { recursive: true, force: true }));

interface Mutant {
  readonly name: string;
  readonly file: "breaker.ts" | "pool.ts" | "steps.ts";
  readonly from: string;
  readonly to: string;
}

const mutants: readonly Mutant[] = [
  {
    name: "K1 looking takes the place of the probe",
    file: "breaker.ts",
    from: "probeBy === undefined ? 0 : Math.max(0, probeBy - now())",
    to: "probeBy === undefined ? ((probeBy = now() + probeMs), 0) : Math.max(0, probeBy - now())",
  },
  {
    name: "K3 any number of probes at once",
    file: "breaker.ts",
    from: "probeBy === undefined ? 0 : Math.max(0, probeBy - now())",
    to: "0",
  },
  { name: "K3 no rest", file: "breaker.ts", from: "if (rest > 0) return", to: "if (rest < 0) return" },
  {
    name: "K4 a probe's answer does not close it",
    file: "breaker.ts",
    from: "close(most - 1);",
    to: "probeBy = undefined;",
  },
  { name: "K4 a probe on trial has every failure left", file: "breaker.ts", from: "close(most - 1);", to: "close(0);" },
  {
    name: "K4 a probe that is given up keeps its place",
    file: "breaker.ts",
    from: "settle(() => {\n            probeBy = undefined;\n          })",
    to: "settle(() => undefined)",
  },
  {
    name: "K4 a silent probe keeps its place for ever",
    file: "breaker.ts",
    from: "Math.max(0, probeBy - now())",
    to: "probeMs",
  },
  { name: "K4 a failed probe does not open it again", file: "breaker.ts", from: "isProbe || failures", to: "failures" },
  {
    name: "K5 calls from before the rest count",
    file: "breaker.ts",
    from: "isOpen && given === round) how()",
    to: "isOpen) how()",
  },
  { name: "K5 a permit counts twice", file: "breaker.ts", from: "isOpen = false;", to: "" },
  { name: "failures add up over whole answers", file: "breaker.ts", from: "close(0)", to: "close(failures)" },
  { name: "Retry-After is not heard", file: "breaker.ts", from: "retryAfterMs > 0", to: "retryAfterMs < 0" },
  {
    name: "Retry-After has no bound",
    file: "breaker.ts",
    from: "Math.min(longestRestMs, retryAfterMs)",
    to: "retryAfterMs",
  },
  { name: "P1 passed on after something was told", file: "pool.ts", from: "if (isTold) throw cause;", to: "" },
  {
    name: "P1 a ping counts as told",
    file: "pool.ts",
    from: 'isTold ||= part?.type !== "ping";',
    to: "isTold = true;",
  },
  { name: "P1 never passed on", file: "pool.ts", from: "if (isTold) throw cause;", to: "throw cause;" },
  { name: "P2 a refusal does not say when", file: "pool.ts", from: "soonest > 0", to: "soonest < 0" },
  { name: "P2 only the home is asked", file: "pool.ts", from: "if (!permit) continue;", to: "if (!permit) break;" },
  {
    name: "P4 a wrong key is passed on",
    file: "pool.ts",
    from: "signal.aborted || !isBadDay(error)",
    to: "signal.aborted",
  },
  {
    name: "P4 a wrong key opens it",
    file: "pool.ts",
    from: "if (signal.aborted ||",
    to: "permit.failed(); if (signal.aborted ||",
  },
  {
    name: "P5 an abort is not heard",
    file: "pool.ts",
    from: 'signal.addEventListener("abort", aborted, { once: true });',
    to: "",
  },
  {
    name: "P5 a reader that goes keeps its permit",
    file: "pool.ts",
    from: "    permit.dropped();\n    if (!isWhole",
    to: "    if (!isWhole",
  },
  {
    name: "P5 a timeout is forgiven",
    file: "pool.ts",
    from: "    permit.failed();\n    failsStep();",
    to: "failsStep();",
  },
  {
    name: "P6 a timeout is not known to the next attempt",
    file: "pool.ts",
    from: "    permit.failed();\n    failsStep();",
    to: "permit.failed();",
  },
  {
    name: "P6 a failure is not known to the next attempt",
    file: "pool.ts",
    from: "if (!isWhole && !signal.aborted) failsStep();",
    to: "",
  },
  { name: "P6 a cancel is a failure", file: "pool.ts", from: "if (!isWhole && !signal.aborted)", to: "if (!isWhole)" },
  { name: "P6 an empty answer is forgiven", file: "pool.ts", from: " && !isEmpty;", to: ";" },
  {
    name: "P6 what goes on with nothing to add is empty",
    file: "pool.ts",
    from: "request.continues === undefined;",
    to: "true;",
  },
  { name: "S1 the same member is asked first again", file: "steps.ts", from: "rank(a) - rank(b)", to: "0" },
  {
    name: "S1 only the last failure is known",
    file: "steps.ts",
    from: "...before.filter((each) => each !== key), ",
    to: "",
  },
  {
    name: "S2 a first attempt does not forget",
    file: "steps.ts",
    from: "if (request.attempt <= 1) known.delete(stepOf(request));",
    to: "",
  },
  {
    name: "S2 an answer does not forget",
    file: "pool.ts",
    from: "if (isWhole) steps.answered(request);",
    to: "",
  },
  {
    name: "a stream without a finish is forgiven",
    file: "pool.ts",
    from: "permit.failed(); // without",
    to: "// without",
  },
  { name: "an end by error is forgiven", file: "pool.ts", from: 'reason !== "error"', to: 'reason !== "length"' },
  {
    name: "another member is named",
    file: "pool.ts",
    from: "whoIs(model)",
    to: '{ provider: "vendor", model: "m9" }',
  },
];

/** The pool's own folder with one place changed. */
async function broken({ file, from, to }: Omit<Mutant, "name">): Promise<MakePool> {
  const folder = mkdtempSync(join(copies, "copy-"));
  for (const name of readdirSync(join(source, "providers/pool"))) {
    const text = readFileSync(join(source, "providers/pool", name), "utf8").replaceAll('"../../', `"${source}/`);
    if (name === file) expect(text, "the place to break is not there any more").toContain(from);
    writeFileSync(join(folder, name), name === file ? text.replace(from, to) : text);
  }
  const { pool } = (await import(pathToFileURL(join(folder, "pool.ts")).href)) as { pool: MakePool };
  return pool;
}

test.each(mutants)("$name", async (mutant) => {
  expect(await runSequences(await broken(mutant), 1, 1_000), "not noticed in 1,000 sequences").toBeDefined();
});

test("a copy without a change is not noticed", async () => {
  const same = await broken({ file: "pool.ts", from: "isTold", to: "isTold" });
  expect(await runSequences(same, 1, 200)).toBeUndefined();
});

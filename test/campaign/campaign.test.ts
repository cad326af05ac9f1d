/** A small campaign with real processes, and its evidence doctored: the judge must see what it is there to see. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClientLine, collect, type Evidence } from "../../scripts/crash/evidence.ts";
import { judge } from "../../scripts/crash/judge.ts";
import { note } from "../../scripts/processes/notes.ts";

const root = resolve(import.meta.dirname, "../..");
const parent = mkdtempSync(join(tmpdir(), "holdfast-campaign-"));
const folder = join(parent, "kept");
const kills = 6;
const clean = { lost: 0, duplicatedEffects: 0, duplicatedEntries: 0, eventGaps: 0, staleAccepted: 0 };

interface Verdict {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

async function run(script: string, ...args: readonly string[]): Promise<Verdict> {
  const path = join(root, "scripts", script);
  const child = spawn(process.execPath, ["--conditions=holdfast-source", path, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = new Promise<number | null>((done) => child.once("close", done));
  const lines = (await text(child.stdout)).trimEnd().split("\n");
  return { code: await closed, lines, counts: JSON.parse(lines.at(-1) ?? "{}") as Record<string, number> };
}

let campaign: Verdict;
let evidence: Evidence;
beforeAll(async () => {
  campaign = await run("crash.ts", "--kills", String(kills), "--runs", "8", "--keep", folder);
  evidence = await collect(folder);
}, 180_000);
afterAll(() => rmSync(parent, { recursive: true, force: true, maxRetries: 3 }));

test("workers and clients killed by SIGKILL lose nothing, double nothing and leave no gap", () => {
  expect(campaign.lines.join("\n")).toContain("at failpoints");
  expect(campaign.counts).toMatchObject({ kills, ...clean });
  expect(campaign.counts.runs).toBeGreaterThanOrEqual(8);
  expect(campaign.code).toBe(0);
});

/** What the judge counts when the evidence has one lie in it. */
function counted(lie: Partial<Evidence>): Readonly<Record<string, number>> {
  const findings = Object.entries(judge({ ...evidence, ...lie }));
  return Object.fromEntries(findings.map(([name, found]) => [name, Array.isArray(found) ? found.length : found]));
}

const aShipment = (): Evidence["tools"][number] =>
  evidence.tools.find(({ kind, tool }) => kind === "effect" && tool === "ship")!;
const aDecision = (): Extract<ClientLine, { kind: "decided" }> =>
  evidence.clients.find((line) => line.kind === "decided")!;

test("J1 a start that was acknowledged and is not there is lost", () => {
  const lie: ClientLine = { kind: "started", key: "x", run: "nobody" };
  expect(counted({ clients: [...evidence.clients, lie] })).toMatchObject({ ...clean, lost: 1 });
});

test("J1 an answer that was acknowledged and does not count is lost", () => {
  const lie = { ...aDecision(), by: "mallory" };
  expect(counted({ clients: [...evidence.clients, lie] })).toMatchObject({ ...clean, lost: 1 });
});

test("J1 a run that never ends, and a message and a cancel that are gone, are lost", () => {
  const [first, ...rest] = evidence.journals;
  const { run } = first!;
  const uncancelled = rest.find(({ entries }) => entries.every(({ type }) => type !== "cancel-requested"));
  const lies: ClientLine[] = [
    { kind: "sent", run, input: "gone" },
    { kind: "cancelled", run: uncancelled!.run, at: 0 },
  ];
  const journals = [{ run, entries: first!.entries.slice(0, -1) }, ...rest];
  const clients = [...evidence.clients.filter((line) => line.kind !== "ended" && line.kind !== "cancelled"), ...lies];
  expect(counted({ journals, clients, watchers: [] })).toMatchObject({ lost: 3 });
});

test("J2 an effect that happened twice is doubled, and so is one under two keys", () => {
  expect(counted({ tools: [...evidence.tools, aShipment()] })).toMatchObject({ ...clean, duplicatedEffects: 1 });
  const other = { ...aShipment(), kind: "repeat" as const, key: "other" };
  expect(counted({ tools: [...evidence.tools, other] })).toMatchObject({ ...clean, duplicatedEffects: 1 });
});

test("J2 an effect that a run speaks of and nobody made is seen, and one that nobody approved", () => {
  const tools = evidence.tools.filter(({ call }) => call !== aShipment().call);
  expect(counted({ tools })).toMatchObject({ ...clean, duplicatedEffects: 1 });
  const stolen = { ...aShipment(), tool: "pay", call: "stolen" };
  expect(counted({ tools: [...evidence.tools, stolen] })).toMatchObject({ ...clean, duplicatedEffects: 1 });
});

test("J3 an entry that is in a journal twice is seen", () => {
  const [first, ...rest] = evidence.journals;
  const entries = first!.entries.toSpliced(1, 0, { ...first!.entries[0]!, seq: 2 });
  const moved = entries.map((entry, index) => ({ ...entry, seq: index + 1 }));
  const journals = [{ ...first!, entries: moved }, ...rest];
  expect(counted({ journals, watchers: [] })).toMatchObject({ ...clean, duplicatedEntries: 1 });
});

test("J4 an event that a watcher missed, or saw twice, is a gap", () => {
  const [one, two] = evidence.watchers;
  expect(counted({ watchers: [one!.toSpliced(7, 1), two!] })).toMatchObject({ ...clean, eventGaps: 1 });
  expect(counted({ watchers: [one!.toSpliced(7, 0, one![7]!), two!] })).toMatchObject({ ...clean, eventGaps: 1 });
});

test("J5 who asks under an old epoch is counted, and who is heard is accused", () => {
  const stale = { kind: "asked", run: "r", epoch: 1, at: 2 } as const;
  const log: Evidence["workers"][number] = [
    { kind: "claimed", run: "r", epoch: 2, at: 1 },
    { ...stale, id: 1, method: "commit" },
    { kind: "answered", id: 1, answer: "committed" },
    { ...stale, id: 2, method: "renew" },
    { kind: "answered", id: 2, answer: "fenced" },
  ];
  const before = campaign.counts.staleAttempts!;
  const expected = { ...clean, staleAttempts: before + 2, staleAccepted: 1 };
  expect(counted({ workers: [...evidence.workers, log] })).toMatchObject(expected);
});

test("the checker's exit code says what it has found", async () => {
  note(join(folder, "client-ana.log"), { kind: "started", key: "x", run: "nobody" } satisfies ClientLine);
  const { code, lines } = await run("crash/checker.ts", folder);
  expect(lines[0]).toBe("lost: run nobody was acknowledged and is not in the store");
  expect(code).toBe(1);
});

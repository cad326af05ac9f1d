/** One campaign: processes work, die and freeze; then everybody may finish; then a separate process judges. */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startChild } from "../processes/child.ts";
import { createTally, freezeOne, killOne, killsAtFailpoints, killWatcher, type Tally } from "./blows.ts";
import { type Crew, createCrew } from "./crew.ts";
import { logs } from "./evidence.ts";
import { describePlace, type Place } from "./place.ts";

export interface CampaignOptions {
  readonly folder: string;
  readonly store: Place["store"];
  readonly workers: number;
  readonly kills: number;
  readonly pauses: number;
  readonly runsInFlight: number;
  readonly say: (line: string) => void;
}

const clients = ["ana", "ben"];
const watchers = ["one", "two"];
const progressEveryMs = 3_000;
const healMs = 120_000;
const quietMs = 2_000;

/** The exit code of the checker, or 1 when a process ended by itself. */
export async function runCampaign(options: CampaignOptions): Promise<number> {
  const { folder, say } = options;
  mkdirSync(folder, { recursive: true });
  const tools = startChild<{ url: string }>({ script: scriptOf("tools"), args: [folder] });
  const { url: toolsUrl } = await tools.next();
  const concurrency = Math.ceil((options.runsInFlight * 1.5) / options.workers);
  describePlace(folder, { store: options.store, toolsUrl, concurrency });
  const crew = createCrew(folder);
  const tally = createTally();
  await hireAll(crew, options);
  const progress = setInterval(() => say(progressLine(options, crew, tally)), progressEveryMs);
  await strikeAll(options, crew, tally);
  say("no more deaths: every run may come to its end");
  await heal(crew, folder);
  clearInterval(progress);
  await Promise.all([crew.dismiss("worker"), crew.dismiss("watcher"), tools.kill()]);
  say(summary(tally));
  for (const surprise of crew.surprises) say(surprise);
  if (killsAtFailpoints(tally) * 2 < tally.kills) say("fewer than half of the kills were at failpoints");
  const args = [folder, String(tally.kills), String(tally.pauses)];
  const checker = startChild({ script: scriptOf("checker"), args, output: "inherit" });
  return ((await checker.exited) ?? 1) || (crew.surprises.length > 0 ? 1 : 0);
}

/** One process makes the store's tables; the others find them. */
async function hireAll(crew: Crew, { folder, workers, runsInFlight }: CampaignOptions): Promise<void> {
  for (const name of watchers) crew.hire({ role: "watcher", name, args: [folder, name] });
  const slots = String(Math.ceil(runsInFlight / clients.length));
  for (const name of clients) crew.hire({ role: "client", name, args: [folder, name, slots] });
  for (let n = 1; n <= workers; n += 1) crew.hire({ role: "worker", name: String(n), args: [folder] });
  await everybodyIsUp(crew);
}

async function everybodyIsUp(crew: Crew): Promise<void> {
  while (!crew.members.every(({ isReady }) => isReady)) await sleep(10);
}

/** Pauses are spread over the kills, one at a time, while the kills go on. */
async function strikeAll({ kills, pauses }: CampaignOptions, crew: Crew, tally: Tally): Promise<void> {
  const freezing = (async () => {
    while (tally.pauses < pauses) await freezeOne(crew, tally);
  })();
  while (tally.kills < kills) {
    await killOne(crew, tally);
    if (tally.kills % 4 === 0) await killWatcher(crew, tally);
  }
  await freezing;
}

async function heal(crew: Crew, folder: string): Promise<void> {
  await everybodyIsUp(crew);
  const working = crew.members.filter(({ role }) => role === "client");
  for (const { child } of working) child.tell({ order: "drain" });
  const stop = new AbortController();
  const late = sleep(healMs, undefined, { signal: stop.signal }).catch(() => undefined);
  await Promise.race([Promise.all(working.map(({ child }) => child.exited)), late]);
  stop.abort();
  await crew.dismiss("client");
  await watchersAreQuiet(folder);
}

async function watchersAreQuiet(folder: string): Promise<void> {
  const sizes = (): string => watchers.map((name) => statSync(logs.watcher(folder, name)).size).join();
  for (let before = "", looks = 0; before !== sizes() && looks < 10; looks += 1) {
    before = sizes();
    await sleep(quietMs);
  }
}

const since = performance.now();

function progressLine({ kills, pauses }: CampaignOptions, crew: Crew, tally: Tally): string {
  const seconds = `${Math.round((performance.now() - since) / 1_000)} s`.padStart(5);
  const frozen = pauses > 0 ? `, pauses ${tally.pauses} of ${pauses}` : "";
  return `${seconds}  kills ${tally.kills} of ${kills}${frozen}, runs ended ${crew.runsEnded()}`;
}

function summary(tally: Tally): string {
  const places = [...tally.places].sort().map(([place, count]) => `${place} ${count}`);
  const seconds = Math.round((performance.now() - since) / 1_000);
  return `${tally.kills} kills in ${seconds} s, ${killsAtFailpoints(tally)} at failpoints (${places.join(", ")}), watchers killed ${tally.watcherKills} times`;
}

function scriptOf(name: string): string {
  return join(import.meta.dirname, `${name}.ts`);
}

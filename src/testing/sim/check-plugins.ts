/**
 * Checks on plugins as their code is called: one instance belongs to one claim of one run and is asked about no other; a
 * run's state is its own, and a thread's is that of its runs. What they have written is looked at as it comes in
 * (check-moments, check-state).
 */
import type { Entry, EntryStamp } from "../../domain/entry.ts";
import type { RunId } from "../../domain/ids.ts";
import type { Store } from "../../ports/store.ts";
import { checkWhole, createMomentChecks } from "./check-moments.ts";
import { createStateChecks } from "./check-state.ts";
import type { PluginsPlan } from "./hook-plan.ts";
import type { Asked, PluginWatcher, Stamp } from "./sim-plugins.ts";
import type { Report } from "./violations.ts";
import type { Watch, WatchedRun } from "./watch.ts";

export interface PluginChecks extends PluginWatcher {
  /** An entry that the store has taken; the run is as it was before. */
  entry(entry: Entry, run: WatchedRun): void;
  end(watch: Watch, store: Store): Promise<void>;
}

export interface PluginChecking {
  readonly plan: PluginsPlan;
  readonly watch: () => Watch;
  readonly report: Report;
}

export function createPluginChecks({ plan, watch, report }: PluginChecking): PluginChecks {
  const made = new Map<string, number>();
  const moments = createMomentChecks(plan, report);
  const state = createStateChecks(report);
  const checkInstance = createInstanceCheck(report);
  let last = 0;
  return {
    created(plugin, run) {
      const key = `${plugin} of ${run}`;
      const count = (made.get(key) ?? 0) + 1;
      made.set(key, count);
      last += 1;
      const claims = watch().runs.get(run as RunId)?.row.epoch ?? 0;
      if (count > claims) report("plugin-instance", `${key}: instance ${count} in ${claims} claims`);
      return last;
    },
    asked: (asked) => checkAsked(asked, watch(), report),
    entry(entry, run) {
      moments.entry(entry, run);
      const stamp = state.entry(entry, run);
      if (stamp) checkInstance(stamp, entry, run.key.run);
    },
    async end(all, store) {
      for (const run of all.runs.values()) checkWhole(run, report);
      await state.end(all, store);
    },
  };
}

/** An instance writes for one claim, and a claim has one instance of each plugin. */
function createInstanceCheck(report: Report): (stamp: Stamp, entry: EntryStamp, run: string) => void {
  const owners = new Map<number, string>();
  const instances = new Map<string, number>();
  return ({ plugin, instance, run: writtenFor }, { epoch, seq }, run) => {
    const claim = `${plugin} of ${run} at epoch ${epoch}`;
    const owner = owners.get(instance) ?? claim;
    const known = instances.get(claim) ?? instance;
    owners.set(instance, owner);
    instances.set(claim, known);
    if (owner !== claim) report("plugin-instance", `${claim}: entry ${seq} is of the instance of ${owner}`);
    if (known !== instance) report("plugin-instance", `${claim} has the instances ${known} and ${instance}`);
    if (writtenFor !== run) report("plugin-isolation", `${run}: entry ${seq} was written for ${writtenFor}`);
  };
}

/** What a hook sees is of its own run and thread, and stays as it was. */
function checkAsked({ plugin, instance, madeFor, view, seen, seenLater }: Asked, watch: Watch, report: Report): void {
  const { id: run, thread } = view.run;
  const what = `${plugin} in ${view.phase} of ${run}`;
  if (madeFor !== run) report("plugin-isolation", `${what}: instance ${instance} was made for ${madeFor}`);
  const writers = [seen.mine.run, ...seen.names.map((name) => name.split(" ")[0] ?? "")];
  const strangers = writers.filter((each) => each !== "" && each !== run);
  if (strangers.length > 0) report("plugin-isolation", `${what} sees the state of ${strangers.join(", ")}`);
  for (const guest of [seen.ours.run, ...seen.guests]) {
    const home = watch.runs.get(guest as RunId)?.row.thread;
    if (guest !== "" && home !== thread) report("plugin-isolation", `${what} sees ${guest} of thread ${home}`);
  }
  const hasChanged = seenLater && JSON.stringify(seen) !== JSON.stringify(seenLater);
  if (hasChanged) report("plugin-view", `${what}: what it saw has changed under it`);
}

/** Folding: message by message, what a spectator was shown over all its sittings is the transcript of the store. */
import type { RunEvent } from "../../domain/event.ts";
import { defaultScope } from "../../domain/ids.ts";
import type { Message } from "../../domain/message.ts";
import type { Store } from "../../ports/store.ts";
import { filterOf, type Gallery, type Spectator } from "./spectators.ts";
import type { Report } from "./violations.ts";
import type { Watch } from "./watch.ts";

export interface Folding {
  readonly gallery: Gallery;
  readonly watch: Watch;
  readonly store: Store;
  readonly report: Report;
}

const wholeThread = 1_000_000;

/** Whoever saw everything of a thread can write its transcript, byte for byte. */
export async function checkFolds({ gallery, watch, store, report }: Folding): Promise<void> {
  const threads = new Set([...watch.runs.values()].map(({ row }) => row.thread));
  for (const thread of threads) {
    const stored = await store.messages({ scope: defaultScope, thread, order: "oldest", limit: wholeThread });
    for (const spectator of gallery.spectators) {
      const runs = runsSeen(spectator, watch, thread);
      const wanted = stored.filter(({ run }) => runs.has(run)).map(({ message }) => message);
      const folded = fold(spectator, runs);
      if (JSON.stringify(folded) !== JSON.stringify(wanted)) {
        report("watch-fold", `${spectator.plan.name}: ${JSON.stringify(folded)} is not ${JSON.stringify(wanted)}`);
      }
    }
  }
}

/** Runs of the thread that the spectator sees wholly, in the order in which they started. */
function runsSeen({ plan, run }: Spectator, watch: Watch, thread: string): ReadonlySet<string> {
  const { types, agents, threads } = filterOf(plan.subject);
  const all = [...watch.runs.values()].filter(({ row, key }) => {
    if (row.thread !== thread || types || !(threads?.includes(thread) ?? true)) return false;
    return plan.subject.kind === "run" ? key.run === run : (agents?.includes(row.agent) ?? true);
  });
  all.sort((a, b) => (a.row.startPosition ?? 0) - (b.row.startPosition ?? 0));
  return new Set(all.map(({ key }) => key.run));
}

function fold({ sittings }: Spectator, runs: ReadonlySet<string>): readonly Message[] {
  const frames = sittings.flatMap((sitting) => sitting.frames).filter((frame) => "seq" in frame);
  const events = new Map(frames.map((event) => [`${event.run}:${event.seq}`, event]));
  const messages = (run: string): readonly Message[] => {
    const own = [...events.values()].filter((event) => event.run === run && event.type === "message-appended");
    own.sort((a, b) => a.seq - b.seq);
    return own.flatMap((event) => messageOf(event, (seq) => events.get(`${run}:${seq}`)) ?? []);
  };
  return [...runs].flatMap(messages);
}

function messageOf(event: RunEvent, at: (seq: number) => RunEvent | undefined): Message | undefined {
  if (event.type !== "message-appended") return undefined;
  return event.message ?? brought(at(event.from ?? 0), event.index);
}

function brought(event: RunEvent | undefined, index: number | undefined): Message | undefined {
  if (event?.type === "run-created") return event.input[index ?? 0];
  return event?.type === "input-received" ? event.message : undefined;
}

/** Watches every run from the cursor it wrote down last: node watcher.ts <folder> <name>. Killed like everybody else. */
import { createRuntime } from "holdfast";
import { note, noted } from "../processes/notes.ts";
import { logs, type WatcherLine } from "./evidence.ts";
import { tellReady } from "./failpoints.ts";
import { storeOf } from "./place.ts";

const [folder = ".", name = ""] = process.argv.slice(2);
const log = logs.watcher(folder, name);
const after = noted<WatcherLine>(log).at(-1)?.cursor;
process.once("disconnect", () => process.exit());

const runtime = await createRuntime({ store: storeOf(folder) });
tellReady();
for await (const event of runtime.watch({}, after === undefined ? {} : { after })) {
  if (!("cursor" in event) || event.type === "resync") continue; // a live piece, or a sign that some were left out
  note(log, { run: event.run, seq: event.seq, cursor: event.cursor } satisfies WatcherLine); // event and cursor in one write
}

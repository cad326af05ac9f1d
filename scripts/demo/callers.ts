/** Several people at once answer one ticket: node callers.ts <folder> <ticket> <names…>. */
import { once } from "node:events";
import { createRuntime } from "holdfast";
import { noteDurably } from "../processes/notes.ts";
import { acknowledgedLog, storeIn } from "./files.ts";
import type { Acknowledged, CallersNews } from "./news.ts";

const [folder = ".", id = "", ...names] = process.argv.slice(2);
await using runtime = await createRuntime({ store: storeIn(folder) });
const ticket = await runtime.tickets.get(id);
if (!ticket) throw new Error(`Ticket ${id} is not in the store of this demo`);
const { hash, run } = ticket;

process.send?.({ ready: true } satisfies CallersNews);
await once(process, "message"); // all callers of all processes begin together
const answers = await Promise.all(
  names.map(async (by) => {
    const settlement = await runtime.tickets.decide(id, { kind: "approve", hash, by });
    const told: Acknowledged = { kind: "decision", run, ticket: id, by: settlement.by };
    noteDurably(acknowledgedLog(folder), told);
    return { by, mine: settlement.mine };
  }),
);
process.send?.({ ready: false, answers } satisfies CallersNews);
process.disconnect?.();

/** Knows nothing of what happened: counts refunds in the payments log and compares the store with what callers were told. */
import { createRuntime, type Runtime } from "holdfast";
import { noted } from "../processes/notes.ts";
import { acknowledgedLog, paymentsLog, storeIn } from "./files.ts";
import type { Acknowledged, PaymentRequest } from "./news.ts";

const folder = process.argv[2] ?? ".";
const refunds = noted<PaymentRequest>(paymentsLog(folder)).filter(({ receipt }) => receipt !== undefined);
const acknowledged = noted<Acknowledged>(acknowledgedLog(folder));

/** What is missing of something that a caller was told is done. */
async function lossOf(told: Acknowledged, runtime: Runtime): Promise<string | undefined> {
  if (told.kind === "decision") {
    const { settlement } = (await runtime.tickets.get(told.ticket)) ?? {};
    return settlement?.by === told.by ? undefined : `the answer of ${told.by} to ${told.ticket} is not in the store`;
  }
  const { status, outcome } = await runtime.runs.get(told.run).status();
  if (outcome?.kind !== "completed") return `run ${told.run} is ${outcome?.kind ?? status}`;
  return refunds.length > 0 ? undefined : `run ${told.run} is done, and nothing was refunded`;
}

function doubledOrders(): readonly string[] {
  const byOrder = Map.groupBy(refunds, ({ order }) => order);
  return [...byOrder].flatMap(([order, made]) =>
    made.length < 2 ? [] : [`order ${order} was refunded ${made.length} times: ${made.map(shown).join(", ")}`],
  );
}

function shown({ receipt, cents }: PaymentRequest): string {
  return `${receipt} over ${cents} cents`;
}

await using runtime = await createRuntime({ store: storeIn(folder) });
const losses = (await Promise.all(acknowledged.map((told) => lossOf(told, runtime)))).filter(
  (loss) => loss !== undefined,
);
const duplicated = refunds.length - new Set(refunds.map(({ order }) => order)).size;
for (const loss of losses) console.log(`lost: ${loss}`);
for (const doubled of doubledOrders()) console.log(`doubled: ${doubled}`);
console.log(`effects: ${refunds.length}, lost: ${losses.length}, duplicated: ${duplicated}`);
process.exitCode = refunds.length === 1 && losses.length === 0 && duplicated === 0 ? 0 : 1;

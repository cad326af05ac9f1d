/** Facts for other runs that a commit causes: written with it, carried by the outbox, taken once. */
import type { EntryBody } from "../domain/entry.ts";
import type { InputId, MessageId, RunId } from "../domain/ids.ts";
import type { Delivery } from "../ports/outbox-store.ts";

/** Ids come from the place in the journal: however often the commit is tried, they are the same. */
export function deliveriesOf(
  entries: readonly EntryBody[],
  at: { readonly run: RunId; readonly expectedSeq: number },
): { readonly deliveries?: readonly Delivery[] } {
  const deliveries: Delivery[] = [];
  for (const [index, entry] of entries.entries()) {
    if (entry.type !== "command-applied") continue;
    for (const { plugin, command } of entry.commands) {
      if (command.type !== "send-input") continue;
      const id = `${at.run}.sent.${at.expectedSeq + 1 + index}.${deliveries.length}`;
      deliveries.push({
        to: "run",
        run: command.run as RunId,
        fact: {
          type: "input-received",
          input: id as InputId,
          message: {
            id: id as MessageId,
            role: "user",
            parts: [{ type: "text", text: command.message }],
            visibility: "internal",
            producer: { run: at.run },
          },
          by: `plugin ${plugin} of run ${at.run}`,
        },
      });
    }
  }
  return deliveries.length === 0 ? {} : { deliveries };
}

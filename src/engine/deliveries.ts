/** What a commit causes for others: written with it, carried by the outbox, taken once. */
import type { EntryBody } from "../domain/entry.ts";
import type { InputId, MessageId, RunId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import type { RunState } from "../domain/run-state.ts";
import { messagesOf } from "../domain/sink-message.ts";
import type { Delivery } from "../ports/outbox-store.ts";
import { type Family, familyTold } from "./child-deliveries.ts";

interface Caused {
  readonly entries: readonly EntryBody[];
  /** The state once the entries are committed. */
  readonly state: RunState;
}

interface Place {
  readonly run: RunId;
  readonly expectedSeq: number;
  readonly now: number;
}

export async function deliveriesOf(
  caused: Caused,
  at: Place,
  family: Family,
): Promise<{ readonly deliveries?: readonly Delivery[] }> {
  const told = await familyTold(caused, family);
  const deliveries = [...inputsSent(caused.entries, at), ...told, ...endTold(caused, at)];
  return deliveries.length === 0 ? {} : { deliveries };
}

/** Ids come from the place in the journal: however often the commit is tried, they are the same. */
function inputsSent(entries: readonly EntryBody[], at: Place): readonly Delivery[] {
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
  return deliveries;
}

/** D1: by whatever process ends the run. The run itself says who is told; it need not have those sinks. */
function endTold({ entries, state }: Caused, { now }: Place): readonly Delivery[] {
  const { sinks = [] } = state.created;
  if (sinks.length === 0 || entries.at(-1)?.type !== "run-ended") return [];
  const messages = messagesOf(state, now);
  return sinks.flatMap((sink) =>
    messages.map((message): Delivery => ({ to: "sink", sink, body: message as unknown as JsonValue })),
  );
}

/** Which messages of a call were there before this run: nobody who could still change them is asked. */
import type { MessageId } from "../domain/ids.ts";
import type { Message } from "../domain/message.ts";
import { shownAfter } from "../domain/modality.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Stage } from "./stage.ts";

/** By id; what no id is known of counts as this run's. */
export type Older = ReadonlySet<MessageId>;

export function olderMessages({ appended, created }: RunState, { transcript }: Pick<Stage, "transcript">): Older {
  const window = transcript.window();
  const own = new Set(created.request.inputIds);
  const before = window.slice(0, Math.max(0, window.length - appended));
  return new Set(before.filter(({ id }) => !own.has(id)).flatMap(both));
}

/** With what its results show, which is sent behind it. */
function both({ id }: Message): readonly MessageId[] {
  return [id, shownAfter(id)];
}

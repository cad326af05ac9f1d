/** An event at its place in a stream: what it says about itself now, what it holds when somebody wants it. */
import type { Place } from "../domain/cursor.ts";
import type { Entry } from "../domain/entry.ts";
import { project, type RunEvent } from "../domain/event.ts";
import type { Envelope } from "../domain/event-filter.ts";
import type { RunIdentity } from "../domain/run.ts";

export interface Placed {
  readonly place: Place;
  /** All that filters look at. */
  readonly envelope: Envelope;
  /** Made of its entry when it is first asked for, once for all watchers. */
  readonly event: RunEvent;
}

export function placeEntry(entry: Entry, identity: RunIdentity, place: Place): Placed {
  const { run, thread, agent } = identity;
  let event: RunEvent | undefined;
  return {
    place,
    envelope: { type: entry.type, run, thread, agent },
    get event() {
      event ??= Object.freeze(project(entry, identity));
      return event;
    },
  };
}

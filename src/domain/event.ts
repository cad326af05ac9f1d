/** Event: what a watcher sees of an entry. `project` is pure, so events can always be rebuilt from the journal. */

import type { RemoteIntent } from "./backend/remote-turn.ts";
import type { GivenCommand } from "./command.ts";
import type {
  CommandApplied,
  ContextProjected,
  EffectIntended,
  Entry,
  EntryStamp,
  ManifestAmended,
  MessageAppended,
  OutputValidated,
  RunWaiting,
  Settled,
  Verdict,
} from "./entry.ts";
import { hideGiven, hideReport } from "./hide-bodies.ts";
import type { CallId, EffectId, InputId, RunId, ThreadId, TicketId } from "./ids.ts";
import type { Message } from "./message.ts";
import type { Overrides } from "./overrides.ts";
import { present } from "./present.ts";
import type { Outcome, RunIdentity, StoppedRun } from "./run.ts";
import type { StateChanged } from "./state-slots.ts";
import type { Decision, TicketRecord } from "./ticket.ts";

export interface EventStamp {
  readonly run: RunId;
  readonly thread: ThreadId;
  readonly seq: number;
  readonly at: number;
}

export type EventBody =
  | {
      readonly type: "run-created";
      readonly identity: RunIdentity;
      readonly input: readonly Message[];
      readonly startAt?: number;
      readonly priority?: number;
      readonly overrides?: Overrides;
      readonly forkedFrom?: { readonly run: RunId; readonly step: number };
    }
  | { readonly type: "run-started"; readonly identity: RunIdentity; readonly position: number }
  | RunWaiting
  | { readonly type: "run-resumed" }
  | {
      readonly type: "run-ended";
      readonly identity: RunIdentity;
      readonly outcome: Outcome;
      readonly answer?: number;
      readonly unsaid?: true;
      readonly successor?: RunId;
      readonly unread?: readonly InputId[];
      readonly descendants?: readonly StoppedRun[];
    }
  | { readonly type: "step-started" | "step-ended"; readonly step: number }
  | {
      readonly type: "effect-intended";
      readonly effect: EffectId;
      readonly kind: EffectIntended["kind"];
      readonly call?: CallId;
      readonly attempt: number;
      readonly remote?: RemoteIntent;
      readonly overrides?: Overrides;
      /** The run that a delegate's call is. */
      readonly child?: { readonly run: RunId; readonly thread: ThreadId; readonly agent: string };
    }
  | { readonly type: "effect-settled"; readonly effect: EffectId; readonly attempt: number; readonly result: Settled }
  | { readonly type: "call-gated"; readonly call: CallId; readonly verdict: Verdict }
  /** The message itself, or where an earlier event brought it: in `run-created` by index, or in `input-received`. */
  | {
      readonly type: "message-appended";
      readonly message?: Message;
      readonly from?: number;
      readonly index?: number;
      readonly gate?: MessageAppended["gate"];
    }
  | ContextProjected
  | CommandApplied
  | StateChanged
  | OutputValidated
  | Omit<ManifestAmended, "declared">
  | { readonly type: "ticket-opened"; readonly ticket: Omit<TicketRecord, "output"> }
  | { readonly type: "ticket-decided"; readonly ticket: TicketId; readonly decision: Decision; readonly by: string }
  | {
      readonly type: "input-received";
      readonly input: InputId;
      readonly message: Message;
      readonly by: string;
      readonly replaces?: InputId;
    }
  | { readonly type: "input-withdrawn"; readonly input: InputId; readonly by: string }
  | {
      readonly type: "cancel-requested";
      readonly by: string;
      readonly reason?: string;
      readonly instead?: "interrupted" | "superseded";
    }
  | { readonly type: "pause-requested"; readonly by: string; readonly reason?: string };

export type RunEvent = EventStamp & EventBody;
export type EventType = EventBody["type"];

const everyType: Readonly<Record<EventType, true>> = {
  "run-created": true,
  "run-started": true,
  "run-waiting": true,
  "run-resumed": true,
  "run-ended": true,
  "step-started": true,
  "step-ended": true,
  "context-projected": true,
  "effect-intended": true,
  "effect-settled": true,
  "call-gated": true,
  "message-appended": true,
  "command-applied": true,
  "state-changed": true,
  "output-validated": true,
  "manifest-amended": true,
  "ticket-opened": true,
  "ticket-decided": true,
  "input-received": true,
  "input-withdrawn": true,
  "cancel-requested": true,
  "pause-requested": true,
};

export function isEventType(value: unknown): value is EventType {
  return typeof value === "string" && Object.hasOwn(everyType, value);
}

export function project(entry: Entry, identity: RunIdentity): RunEvent {
  const stamp: EventStamp = { run: identity.run, thread: identity.thread, seq: entry.seq, at: entry.at };
  return { ...stamp, ...projectBody(entry, identity) };
}

function projectBody(entry: Entry, identity: RunIdentity): EventBody {
  const { seq: _seq, at: _at, epoch: _epoch, ...body } = entry as Entry & EntryStamp;
  switch (body.type) {
    case "run-created":
      return {
        type: "run-created",
        identity: body.identity,
        input: body.input,
        ...(body.startAt === undefined ? {} : { startAt: body.startAt }),
        ...(body.priority === undefined ? {} : { priority: body.priority }),
        ...(body.request.overrides === undefined ? {} : { overrides: body.request.overrides }),
        ...(body.forkedFrom === undefined ? {} : { forkedFrom: body.forkedFrom }),
      };
    case "run-started":
      return { ...body, identity };
    case "run-ended":
      return { ...body, identity };
    case "effect-intended": {
      const { effect, kind, call, attempt, type, remote, overrides, child: born } = body;
      const child = born && { run: born.run, thread: born.thread, agent: born.agent };
      return { type, effect, kind, attempt, ...present({ call, remote, overrides, child }) };
    }
    case "effect-settled": {
      const { answered: _answered, reply: _reply, dropped: _dropped, ...shown } = body;
      return shown;
    }
    case "manifest-amended": {
      const { declared: _declared, ...shown } = body;
      return shown;
    }
    case "message-appended":
      if (body.body.kind === "here") {
        return { type: body.type, message: body.body.message, ...(body.gate ? { gate: body.gate } : {}) };
      }
      if (body.body.kind === "created") return { type: body.type, from: 1, index: body.body.index };
      return { type: body.type, from: body.body.from };
    case "output-validated": // what is pending is told by the one that follows it
      return body.pending ? { ...body, report: hideReport(body.report) } : body;
    case "command-applied": // what was put in the place of an answer is told when it is said
      return { ...body, commands: body.commands.map(withoutAnswer) };
    case "ticket-opened": {
      const { output: _output, ...ticket } = body.ticket;
      return { type: body.type, ticket };
    }
    case "ticket-decided":
      return { type: body.type, ticket: body.ticket, decision: body.decision, by: body.by };
    default:
      return body;
  }
}

function withoutAnswer(given: GivenCommand): GivenCommand {
  return given.command.type === "rewrite-output" ? hideGiven(given) : given;
}

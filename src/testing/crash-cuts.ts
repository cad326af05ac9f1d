/**
 * A probe counts every port call of one process and, at one of them, cuts.
 *
 * before: the call never happens and the process dies · after: it happens, its answer is never seen, the process dies ·
 * error: it throws and the process lives · unknown-written, unknown-unwritten, unknown-late: a store write that cannot
 * tell whether it happened; it did, it did not, or it does once its caller has looked and not found it.
 */
import { HoldfastError } from "../domain/errors.ts";
import type { RunId } from "../domain/ids.ts";
import type { ToolContext } from "../domain/tool.ts";
import type { Birth, Commit } from "../ports/store.ts";
import type { JudgedCall } from "../ports/tool-runner.ts";
import { createLateWrites, oneAtATime } from "./crash-timing.ts";
import type { Intercept, PortCall } from "./intercept.ts";

export type CutWay = "before" | "after" | "error" | "unknown-written" | "unknown-unwritten" | "unknown-late";

export interface Cut {
  /** Which port call of the process, from 0. */
  readonly at: number;
  readonly way: CutWay;
}

export interface RecordedCall {
  readonly label: string;
  readonly port: PortCall["port"];
  readonly method: string;
  readonly returned: boolean;
}

export interface Probe {
  readonly intercept: Intercept;
  /** Runs that someone tried to create. */
  readonly births: ReadonlySet<RunId>;
  /** Calls in flight, sleeps not counted; of a dead process only those that reach the store. */
  readonly busy: () => number;
  readonly isDead: () => boolean;
  readonly kill: () => void;
  /** What is still on its way to the store arrives. */
  readonly land: () => Promise<void>;
  /** The call at which the cut was made. */
  readonly cutAt: () => string | undefined;
  /** What was called so far. */
  readonly calls: () => readonly RecordedCall[];
}

const never: Promise<never> = new Promise(() => undefined);
/** Nobody sees it: a dead process's calls never come back. */
const died = new Error("The process died");
const writes = [
  ...["create", "commit", "release", "post", "claim", "renew", "saveSnapshot", "addEvidence"],
  ...["createThread", "changeThread", "deleteThread", "eraseRun", "prune", "takeDeliveries", "endDelivery"],
  ...["putContent", "collectContent"],
];

export function openProbe(cut: Cut | undefined, around: Intercept = (_call, proceed) => proceed()): Probe {
  const calls: { label: string; port: PortCall["port"]; method: string; returned: boolean }[] = [];
  const births = new Set<RunId>();
  let busy = 0;
  let storeBusy = 0;
  let dead = false;
  let cutAt: string | undefined;
  const inTurn = oneAtATime();
  const late = createLateWrites();

  const intercept: Intercept = async (call, proceed) => {
    if (dead) return never;
    const mine = { label: numbered(labelOf(call)), port: call.port, method: call.method, returned: false };
    const cutsHere = calls.push(mine) - 1 === cut?.at;
    const birth = birthIn(call);
    if (birth) births.add(birth.entry.identity.run);
    const counts = call.method !== "sleep" ? 1 : 0;
    const stores = call.port === "store" ? 1 : 0;
    busy += counts;
    storeBusy += stores;
    try {
      const act = (): ReturnType<typeof proceed> => late.before(call, () => inTurn(call, () => around(call, proceed)));
      return await (cutsHere ? cutHere(call, mine.label, act) : act());
    } finally {
      busy -= counts;
      storeBusy -= stores;
      mine.returned = true;
      if (dead) await never;
    }
  };

  /** A tool that is called again is another row of a scenario's table. */
  function numbered(label: string): string {
    if (!label.startsWith("tool.")) return label;
    const before = calls.filter((each) => each.label.split(" #")[0] === label).length;
    return before === 0 ? label : `${label} #${before + 1}`;
  }

  async function cutHere<T>(call: PortCall, label: string, act: () => Promise<T>): Promise<T> {
    cutAt = label;
    switch (cut?.way) {
      case "before":
        dead = true;
        throw died;
      case "after":
        await act().catch(() => undefined);
        dead = true;
        throw died;
      case "error":
        throw failureOf(call);
      case "unknown-written":
        await act();
        throw unknown(call);
      case "unknown-unwritten":
        throw unknown(call);
      case "unknown-late":
        late.hold(call, act);
        throw unknown(call);
      default:
        return act();
    }
  }

  return {
    intercept,
    births,
    busy: () => (dead ? storeBusy : busy),
    isDead: () => dead,
    kill: () => {
      dead = true;
    },
    land: late.land,
    cutAt: () => cutAt,
    calls: () => calls.map((each) => ({ ...each })),
  };
}

/** A start, or an end that bears a successor. */
function birthIn({ method, args }: PortCall): Birth | undefined {
  if (method === "create") return args[0] as Birth;
  return method === "commit" ? (args[0] as Commit).successor : undefined;
}

/** Every way in which every call of an uncut life can be cut. */
export function cutsOf(calls: readonly RecordedCall[]): readonly Cut[] {
  return calls.flatMap((call, at) => waysOf(call).map((way) => ({ at, way })));
}

const unknownWays: readonly CutWay[] = ["unknown-written", "unknown-unwritten", "unknown-late"];

function waysOf(call: RecordedCall): readonly CutWay[] {
  const ways: CutWay[] = ["before"];
  if (call.returned) ways.push("after");
  if (call.port !== "clock") ways.push("error");
  if (call.port === "store" && writes.includes(call.method)) ways.push(...unknownWays);
  return ways;
}

/** `store.commit`, `tool.execute refund 1.0`: the same in every play of a scenario. */
function labelOf(call: PortCall): string {
  const name = `${call.port}.${call.method}`;
  if (call.port !== "tool") return name;
  if (call.method === "judge") return `${name} ${(call.args[0] as JudgedCall).tool}`;
  const tool = String(call.args[0]);
  if (call.method !== "execute") return `${name} ${tool}`;
  const { callId, runId } = call.args[2] as ToolContext;
  return `${name} ${tool} ${callId.slice(runId.length + 1)}`;
}

function failureOf(call: PortCall): Error {
  const label = labelOf(call);
  switch (call.port) {
    case "store":
      return new HoldfastError("store-unavailable", `The crash kit made ${label} fail`);
    case "model":
      return new HoldfastError("model-overloaded", `The crash kit made ${label} fail`);
    default:
      return new Error(`The crash kit made ${label} fail`);
  }
}

function unknown(call: PortCall): HoldfastError {
  return new HoldfastError("commit-unknown", `The crash kit hid the outcome of ${labelOf(call)}`);
}

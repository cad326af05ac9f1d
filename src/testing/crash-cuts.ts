/**
 * A probe counts every port call of one process and, at one of them, cuts.
 *
 * before: the call never happens and the process dies · after: it happens, its answer is never seen, the process dies ·
 * error: it throws and the process lives · unknown-written, unknown-unwritten, unknown-late: a store write that cannot
 * tell whether it happened; it did, it did not, or it does once its caller has looked and not found it.
 */
import type { RunId } from "../domain/ids.ts";
import type { Birth } from "../ports/birth.ts";
import type { Commit } from "../ports/store.ts";
import { failureOf, isUserCode, labelOf, unknown } from "./crash-labels.ts";
import { createLateWrites, oneAtATime } from "./crash-timing.ts";
import type { Intercept, InterceptNow, PortCall } from "./intercept.ts";

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
  /** A death here ends the turn of the process by a throw, which nobody outside of it sees. */
  readonly interceptNow: InterceptNow;
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

  function record(call: PortCall): { readonly mine: (typeof calls)[number]; readonly cutsHere: boolean } {
    const mine = { label: numbered(labelOf(call)), port: call.port, method: call.method, returned: false };
    return { mine, cutsHere: calls.push(mine) - 1 === cut?.at };
  }

  const intercept: Intercept = async (call, proceed) => {
    if (dead) return never;
    const { mine, cutsHere } = record(call);
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

  const interceptNow: InterceptNow = (call, proceed) => {
    if (dead) throw died;
    const { mine, cutsHere } = record(call);
    if (cutsHere) cutAt = mine.label;
    if (cutsHere && cut?.way === "error") throw failureOf(call);
    if (cutsHere && cut?.way === "before") die();
    try {
      return proceed();
    } finally {
      mine.returned = true;
      if (cutsHere) die();
    }
  };

  function die(): never {
    dead = true;
    throw died;
  }

  /** User code that is called again is another row of a scenario's table. */
  function numbered(label: string): string {
    if (!isUserCode(label)) return label;
    const before = calls.filter((each) => each.label.split(" #")[0] === label).length;
    return before === 0 ? label : `${label} #${before + 1}`;
  }

  async function cutHere<T>(call: PortCall, label: string, act: () => Promise<T>): Promise<T> {
    cutAt = label;
    switch (cut?.way) {
      case "before":
        return die();
      case "after":
        await act().catch(() => undefined);
        return die();
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
    interceptNow,
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
function birthIn({ port, method, args }: PortCall): Birth | undefined {
  if (port !== "store") return undefined;
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

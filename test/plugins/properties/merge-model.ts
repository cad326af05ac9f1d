/** What must come of a set of hooks: a model that knows registration order and nothing about time. */
import type { Command, GivenCommand } from "../../../src/domain/command.ts";
import type { JsonValue } from "../../../src/domain/json.ts";
import { momentId, type Phase } from "../../../src/domain/phase.ts";
import { type Commutative, commandOf, customMerge, type PlannedHook, type Snapshot, type Write } from "./hook-plan.ts";

/** A place of the story at which hooks are asked, or a tool that writes. */
export interface Place {
  readonly step: number;
  readonly phase: Phase;
  readonly subject?: string;
  /** What the tool answered. */
  readonly result?: JsonValue;
}

export interface Foreseen {
  state: Snapshot;
  scheduled: { readonly plugin: string; readonly phase: Phase; readonly command: Command }[];
  /** `p0 sets x = 3`, and what was said at each moment. */
  readonly lines: string[];
  /** By place and hook: what it was shown, each time it was asked. */
  readonly asks: Map<string, Snapshot[]>;
}

export function foresee(hooks: readonly PlannedHook[], place: Place, so: Foreseen): void {
  const due = so.scheduled.filter(({ phase }) => phase === place.phase);
  so.scheduled = so.scheduled.filter(({ phase }) => phase !== place.phase);
  const given: GivenCommand[] = due.map(({ plugin, command }) => ({ plugin, command }));
  const asked = hooks.filter(({ phase }) => phase === place.phase);
  const first = shown(after(so.state, given), place);
  const taken = new Set<string>();
  const losers: PlannedHook[] = [];
  for (const hook of asked) {
    note(so, `${place.step} ${place.phase} ${hook.name}`, first);
    const only = hook.writes.flatMap(single);
    if (only.some((what) => taken.has(what))) losers.push(hook);
    else given.push(...answer(hook, first));
    if (losers.at(-1) !== hook) for (const what of only) taken.add(what);
  }
  for (const loser of losers) {
    const again = after(first, given.slice(due.length));
    note(so, `${place.step} ${place.phase} ${loser.name}`, again);
    given.push(...answer(loser, again));
  }
  conclude(so, place, given);
}

/** A tool's own writes. */
export function foreseeTool(tool: string, writes: readonly Write[], so: Foreseen): void {
  for (const write of writes) changeBy(so, tool, commandOf(write, so.state));
}

function conclude(so: Foreseen, { phase, subject }: Place, given: readonly GivenCommand[]): void {
  if (given.length === 0) return;
  for (const { plugin, command } of given) changeBy(so, plugin, command);
  for (const { plugin, command } of given) {
    if (command.type === "schedule") so.scheduled.push({ plugin, phase: command.phase, command: command.command });
  }
  const rest = given.filter(({ command }) => command.type !== "set-state");
  so.lines.push(`${momentId(phase, subject)} says ${JSON.stringify(rest)}`);
}

function changeBy(so: Foreseen, by: string, command: Command): void {
  if (command.type !== "set-state") return;
  so.state = changed(so.state, command);
  so.lines.push(`${by} sets ${command.key} = ${JSON.stringify(so.state[command.key as keyof Snapshot])}`);
}

function note(so: Foreseen, key: string, saw: Snapshot): void {
  so.asks.set(key, [...(so.asks.get(key) ?? []), saw]);
}

function shown(state: Snapshot, { result }: Place): Snapshot {
  return result === undefined ? state : { ...state, result };
}

function answer({ plugin, writes }: PlannedHook, saw: Snapshot): readonly GivenCommand[] {
  return writes.map((write) => ({ plugin, command: commandOf(write, saw) }));
}

function single(write: Write): readonly string[] {
  if (write.kind === "set") return [write.key];
  return write.kind === "rewrite" ? ["the result"] : [];
}

function after(state: Snapshot, given: readonly GivenCommand[]): Snapshot {
  return given.reduce((so, { command }) => changed(so, command), state);
}

function changed(state: Snapshot, command: Command): Snapshot {
  if (command.type === "rewrite-result") return { ...state, result: command.value ?? null };
  if (command.type !== "set-state") return state;
  const { key, value, operand } = command;
  return { ...state, [key]: value ?? merged(key as Commutative, state[key as Commutative], operand as JsonValue) };
}

function merged(key: Commutative, value: JsonValue, operand: JsonValue): JsonValue {
  if (key === "union") {
    const all = new Set([...(value as number[]), ...(operand as number[])]);
    return [...all].sort((a, b) => (String(a) < String(b) ? -1 : 1));
  }
  const [a, b] = [value as number, operand as number];
  if (key === "custom") return customMerge(a, b);
  return key === "sum" ? a + b : Math[key](a, b);
}

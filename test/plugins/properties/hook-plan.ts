/** Sets of hooks drawn at random: what each writes is data, so that a model can say what must come of it. */
import fc from "fast-check";
import { z } from "zod";
import type { Command, CommandType } from "../../../src/domain/command.ts";
import type { JsonValue } from "../../../src/domain/json.ts";
import type { Phase } from "../../../src/domain/phase.ts";
import type { ReadableKey } from "../../../src/domain/state-key.ts";
import { phaseTable } from "../../../src/engine/phases.ts";
import { stateKey } from "../../../src/index.ts";

const int = z.number().int();

export const exclusive = {
  x: stateKey({ name: "x", schema: int, initial: 0 }),
  y: stateKey({ name: "y", schema: int, initial: 1 }),
  z: stateKey({ name: "z", schema: int, initial: 2, scope: "thread" }),
};
export const commutative = {
  sum: stateKey({ name: "sum", schema: int, initial: 0, merge: "sum" }),
  max: stateKey({ name: "max", schema: int, initial: 0, merge: "max", scope: "thread" }),
  min: stateKey({ name: "min", schema: int, initial: 100, merge: "min" }),
  union: stateKey({ name: "union", schema: z.array(int), initial: [], merge: "union" }),
  custom: stateKey({ name: "custom", schema: int, initial: 0, merge: customMerge, scope: "thread" }),
};

/** Where the order of operands does not matter; the library does not know this rule, so the journal has the value. */
export function customMerge(value: number, operand: number): number {
  return (((value + 31 * operand) % 997) + 997) % 997;
}

export const keys: readonly ReadableKey<unknown>[] = [...Object.values(exclusive), ...Object.values(commutative)];
export const initially: Snapshot = {
  ...{ x: 0, y: 1, z: 2, sum: 0, max: 0, min: 100, union: [], custom: 0 },
};

export type Exclusive = keyof typeof exclusive;
export type Commutative = keyof typeof commutative;
export type KeyName = Exclusive | Commutative;
/** Every key, and in after-tool what the call has come to so far. */
export type Snapshot = Readonly<Record<KeyName, JsonValue>> & { readonly result?: JsonValue };

/** One thing that a hook asks for whenever it is asked. */
export type Write =
  | { readonly kind: "set"; readonly key: Exclusive; readonly reads: KeyName; readonly salt: number }
  | { readonly kind: "update"; readonly key: Commutative; readonly operand: number }
  | { readonly kind: "context"; readonly key: string; readonly reads: KeyName }
  | { readonly kind: "patch"; readonly setting: string; readonly salt: number }
  | { readonly kind: "rewrite"; readonly salt: number }
  | { readonly kind: "schedule"; readonly phase: Phase; readonly key: Commutative; readonly operand: number };

export interface PlannedHook {
  /** `p2.0`: the first hook of the third plugin. */
  readonly name: string;
  readonly plugin: string;
  readonly phase: Phase;
  readonly writes: readonly Write[];
  /** It throws instead. */
  readonly isBroken?: boolean;
}

/** When an asked hook answers: in the same turn, or after so many turns of a queue. */
export type Pace = "at once" | { readonly micro: number } | { readonly macro: number };

export function operandOf(key: Commutative, operand: number): JsonValue {
  return key === "union" ? [operand % 7] : operand;
}

/** A value that tells what was read: with another snapshot it is another one. */
export function mixed(salt: number, read: JsonValue): number {
  let hash = salt + 17;
  for (const char of JSON.stringify(read)) hash = (Math.imul(hash, 31) + char.charCodeAt(0)) % 1_000_003;
  return Math.abs(hash);
}

/** What it says of this snapshot. */
export function commandOf(write: Write, saw: Snapshot): Command {
  switch (write.kind) {
    case "set":
      return exclusive[write.key].set(mixed(write.salt, saw[write.reads]));
    case "update":
      return { type: "set-state", key: write.key, operand: operandOf(write.key, write.operand) };
    case "context":
      return { type: "add-context", key: write.key, text: `${write.reads} is ${JSON.stringify(saw[write.reads])}` };
    case "patch":
      return { type: "patch-request", settings: { [write.setting]: write.salt } };
    case "rewrite":
      return { type: "rewrite-result", value: mixed(write.salt, saw.result ?? null) };
    case "schedule": {
      const command = { type: "set-state", key: write.key, operand: operandOf(write.key, write.operand) } as const;
      return { type: "schedule", phase: write.phase, command };
    }
    default:
      return write satisfies never;
  }
}

/** Phases of the story in which a plugin may write state. */
export const writingPhases: readonly Phase[] = (Object.keys(phaseTable) as Phase[]).filter((phase) =>
  phaseTable[phase].commands.includes("set-state"),
);

const types: Readonly<Record<Write["kind"], CommandType>> = {
  ...({ set: "set-state", update: "set-state", context: "add-context", patch: "patch-request" } as const),
  ...({ rewrite: "rewrite-result", schedule: "schedule" } as const),
};

function mayWrite(write: Write, phase: Phase): boolean {
  return phaseTable[phase].commands.includes(types[write.kind]);
}

const keyNames = fc.constantFrom<KeyName>("x", "y", "z", "sum", "max", "min", "union", "custom");
const commutativeNames = fc.constantFrom<Commutative>("sum", "max", "min", "union", "custom");
const small = fc.integer({ min: -50, max: 150 });
const salts = fc.integer({ min: 0, max: 9_999 });

const writes: fc.Arbitrary<Write> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record<Write & { kind: "set" }>({
      kind: fc.constant("set"),
      key: fc.constantFrom<Exclusive>("x", "y", "z"),
      reads: keyNames,
      salt: salts,
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("update" as const), key: commutativeNames, operand: small }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("context" as const),
      key: fc.constantFrom("a", "b"),
      reads: keyNames,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("patch" as const),
      setting: fc.constantFrom("heat", "top"),
      salt: salts,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rewrite" as const), salt: salts }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("schedule" as const),
      phase: fc.constantFrom(...writingPhases.filter((phase) => phase !== "before-run")), // it does not come again
      key: commutativeNames,
      operand: small,
    }),
  },
);

const drawnHook = fc.record({ phase: fc.nat(2), writes: fc.array(writes, { maxLength: 5 }) });

/** 1 to 8 plugins of 1 to 3 hooks, crowded into few phases so that they meet. */
export function plans(phases: readonly Phase[]): fc.Arbitrary<readonly PlannedHook[]> {
  const few = fc.shuffledSubarray([...phases], { minLength: 1, maxLength: 3 });
  const drawn = fc.array(fc.array(drawnHook, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 });
  return fc.tuple(few, drawn).map(([chosen, plugins]) =>
    plugins.flatMap((hooks, plugin) =>
      hooks.map((hook, index) => {
        const phase = chosen[hook.phase % chosen.length] as Phase;
        const allowed = hook.writes.filter((write) => mayWrite(write, phase));
        const isOnce = (write: Write): boolean => write.kind !== "schedule" || index === 0; // a run holds 64 of them
        return { name: `p${plugin}.${index}`, plugin: `p${plugin}`, phase, writes: allowed.filter(isOnce) };
      }),
    ),
  );
}

const mostHooks = 24;

/** How 24 hooks answer: at once, or later in any order. */
export const paces: fc.Arbitrary<readonly Pace[]> = fc.array(
  fc.oneof(
    fc.constant<Pace>("at once"),
    fc.record({ micro: fc.nat(12) }) as fc.Arbitrary<Pace>,
    fc.record({ macro: fc.nat(9) }) as fc.Arbitrary<Pace>,
  ),
  { minLength: mostHooks, maxLength: mostHooks, size: "max" },
);

/** The same hooks at once and the same ones later, but those in another order. */
export function reordered(given: readonly Pace[], order: readonly number[]): readonly Pace[] {
  return given.map((pace, index) => (pace === "at once" ? pace : { macro: order[index] ?? 0 }));
}

export const orders: fc.Arbitrary<readonly number[]> = fc.shuffledSubarray([...Array(mostHooks).keys()], {
  minLength: mostHooks,
});

export async function keepPace(pace: Pace): Promise<void> {
  if (pace === "at once") return;
  const { micro = 0, macro = 0 } = pace as { readonly micro?: number; readonly macro?: number };
  for (let turn = 0; turn < micro; turn += 1) await undefined;
  for (let turn = 0; turn < macro; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

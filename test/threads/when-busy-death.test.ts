/** The process dies at any port call while a message reaches a busy thread: said again with its key, it counts once. */
import { describe, expect, test } from "vitest";
import { memory } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { freshFiles, freshSchemas } from "../scenarios/stores.ts";
import { expectAnswer, expectEnd } from "./busy-outcomes.ts";
import { aBusyThread, type Busy, until } from "./busy-story.ts";
import { type Cell, cells, titleOf } from "./busy-table.ts";

type Way = "before" | "after";

interface Cut {
  readonly at: number;
  readonly way: Way;
}

/** The start itself makes at most four calls; the ones after it belong to the loop that takes up what was written. */
const calls = [0, 1, 2, 3, 4, 5, 6, 7];
const never: Promise<never> = new Promise(() => undefined);

const written = cells.filter(({ answer }) => answer !== "busy");

describe("on memory", () => diesInAny(written, () => memory()));

// A file per play is slow: one cell for each way in which something is written.
const onFile = [
  "model default",
  "input default",
  "approval steer",
  "tool steer",
  "tool interrupt",
  "approval supersede",
];
describe("on sqlite", () => diesInAny(chosen(onFile), freshFiles()));

// A server is slower still, and what a play leaves there is cleared away after its test.
const onServer = process.env.HOLDFAST_CRASH_ALL === "1" ? onFile : ["input default", "tool interrupt"];
const onSchema = freshSchemas();
describe.each(calls)("on postgres, at call %i", (at) => diesInAny(chosen(onServer), onSchema, [at]));

function chosen(names: readonly string[]): readonly Cell[] {
  return written.filter(({ stands, choice }) => names.includes(`${stands} ${choice}`));
}

function diesInAny(played: readonly Cell[], freshStore: () => StoreDefinition, at: readonly number[] = calls): void {
  const cuts = at.flatMap((each): Cut[] => [
    { at: each, way: "before" },
    { at: each, way: "after" },
  ]);
  for (const cell of played) {
    test(`its process dying at any call, ${titleOf(cell)}`, async () => {
      for (const cut of cuts) {
        const died = await playCut(cell, cut, freshStore());
        if (cut.at < 2) expect(died).toBe(true);
      }
    });
  }
}

/** True when the process died. */
async function playCut(cell: Cell, cut: Cut, store: StoreDefinition): Promise<boolean> {
  let armed = false;
  let seen = -1;
  const intercept: Intercept = async (call, proceed) => {
    if (!armed || call.port === "clock") return proceed();
    seen += 1;
    if (seen !== cut.at) return proceed();
    if (cut.way === "after") await proceed();
    busy.story.t.process.kill();
    return never;
  };
  await using busy: Busy = await aBusyThread(cell.stands, { store, intercept });
  armed = true;
  let answered = false;
  busy.next(cell.choice).then(
    () => {
      answered = true;
    },
    () => undefined,
  );
  const isDead = busy.story.t.process.isDead;
  await until(isDead).catch(() => undefined);
  armed = false;
  const died = isDead();
  if (died) await busy.restart();
  else expect(answered).toBe(true);
  await expectAnswer({ busy, ...cell });
  await expectEnd({ busy, ...cell });
  return died;
}

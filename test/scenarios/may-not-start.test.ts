import { expect, test } from "vitest";
import { foldAll } from "../../src/domain/apply.ts";
import { defaultHistory } from "../../src/domain/history.ts";
import type { RunId } from "../../src/domain/ids.ts";
import { decide } from "../../src/engine/decide.ts";
import type { Circumstances } from "../../src/engine/draft.ts";
import { defaultLimits } from "../../src/engine/limits.ts";
import { nodeHash } from "../../src/platform/node-hash.ts";
import { created } from "../domain/journal.ts";

const nothingSent = { messages: [], pinned: [], input: [], length: 0, tokens: 0 };

const at: Circumstances = {
  ...{
    now: 50,
    epoch: 1,
    startBy: 1_000,
    beginBy: 1_000,
    elapsed: 50,
    leaving: false,
    missing: undefined,
    remote: undefined,
    missingAgainMs: undefined,
    amend: undefined,
    mayStart: false,
  },
  ...{
    crashes: 1,
    threadPosition: 0,
    limits: defaultLimits,
    hash: nodeHash,
    broken: undefined,
    hooked: () => false,
    quiet: new Set<string>(),
    output: undefined,
    model: { provider: "none", model: "none" },
    candidates: () => ({ ...nothingSent, run: "run-1" as RunId, mark: undefined, isCut: false }),
    room: () => ({ tokens: 100, messages: 10, fixed: 0, ratio: 1, history: defaultHistory }),
    compacts: undefined,
    summariser: { provider: "none", model: "none" },
    otherModel: () => ({ problem: "none" }),
    keys: new Map(),
    threadBase: {},
    spec: () => undefined,
    delegate: () => undefined,
  },
};

test("D7 a run that may not start yet is left alone until its deadline, and then ended", () => {
  const state = foldAll([{ seq: 1, at: 1, epoch: null, ...created(), deadlineAt: 100 }]);
  expect(decide(state, [], at)).toMatchObject({ entries: [], start: [], wakeAt: 100 });
  const [end, ...more] = decide(state, [], { ...at, now: 100 }).entries;
  expect(end).toMatchObject({ type: "run-ended", outcome: { kind: "timed-out" } });
  expect(more).toEqual([]);
  expect(decide(state, [], { ...at, mayStart: true }).entries[0]).toMatchObject({ type: "run-started" });
});

/** The kit is itself put to the test: what is broken on purpose must be found, and only then. */
import { expect, test } from "vitest";
import { type Command, type PhaseView, plugin, type ToolContext } from "../../src/index.ts";
import type { Commit, CommitAnswer, Snapshot } from "../../src/ports/store.ts";
import { type CrashOptions, crashEverywhere } from "../../src/testing/crash-kit.ts";
import type { CrashScenario } from "../../src/testing/crash-scenario.ts";
import type { World } from "../../src/testing/crash-world.ts";
import { fakeStart } from "../../src/testing/fake-clock.ts";
import type { Intercept } from "../../src/testing/intercept.ts";
import { acting, calling, clerk, scenario } from "./scenarios/pieces.ts";
import { count } from "./scenarios/plugin-pieces.ts";

type Effect = "idempotent" | "once";

function refunding(effect: Effect, world: (real: World) => World = (real) => real): CrashScenario {
  return scenario({
    name: "refunding",
    agents: (real) => [
      clerk({
        answers: [calling("refund"), "Refunded."],
        tools: [acting(world(real), { name: "refund", effect })],
      }),
    ],
  });
}

async function problemsWith(options: CrashOptions, broken: CrashScenario): Promise<readonly string[]> {
  const report = await crashEverywhere(broken, options);
  return report.failures.flatMap(({ cut, problems }) => problems.map((problem) => `${cut}: ${problem}`));
}

test("the kit finds nothing wrong where nothing is", async () => {
  expect(await problemsWith({}, refunding("idempotent"))).toEqual([]);
  expect(await problemsWith({}, refunding("once"))).toEqual([]);
});

test("the kit catches code that is run twice", async () => {
  const twice: Intercept = async (call, proceed) => {
    if (call.method === "execute") await proceed();
    return proceed();
  };
  const problems = await problemsWith({ around: () => twice }, refunding("once"));
  expect(problems[0]).toContain("uncut: refund twice by");
});

test("the kit catches a key that changes with the process", async () => {
  const forgetful = (real: World): World => ({
    ...real,
    actByKey: (name, context, result) => {
      const idempotencyKey = `${context.idempotencyKey} ${(context as ToolContext).fence}`;
      return real.actByKey(name, { ...context, idempotencyKey }, result);
    },
  });
  const problems = await problemsWith({}, refunding("idempotent", forgetful));
  expect(problems.length).toBeGreaterThan(0);
  for (const problem of problems) expect(problem).toMatch(/^(before|after) .*: effect that should not be: 1\.0 refund/);
});

test("the kit catches a store that says committed before it has written", async () => {
  const problems = await problemsWith({ around: writeBehind }, refunding("once"));
  expect(problems.filter((problem) => problem.startsWith("uncut"))).toEqual([]);
  expect(problems.some((problem) => problem.includes("effect that should not be: 1.0 refund"))).toBe(true);
});

/** Writes a commit only when the next call comes: a process that dies in between never wrote it. */
function writeBehind(): Intercept {
  let pending: (() => Promise<unknown>) | undefined;
  return async (call, proceed) => {
    if (call.port !== "store") return proceed();
    const write = pending;
    pending = undefined;
    await write?.();
    if (call.method !== "commit" || endsRun(call.args[0] as Commit)) return proceed();
    pending = proceed;
    return { kind: "committed", at: fakeStart } as Awaited<ReturnType<typeof proceed>>;
  };
}

function endsRun({ entries }: Commit): boolean {
  return entries.some((entry) => entry.type === "run-ended");
}

test("the kit catches a store that takes a commit that arrived late for somebody else's", async () => {
  const forgetful: Intercept = async (call, proceed) => {
    const answer = await proceed();
    const isBehind = call.method === "commit" && (answer as CommitAnswer).kind === "behind";
    return isBehind ? ({ kind: "fenced" } as typeof answer) : answer;
  };
  const problems = await problemsWith({ around: () => forgetful }, refunding("once"));
  expect(problems.length).toBeGreaterThan(0);
  for (const problem of problems) expect(problem).toMatch(/^unknown-late store\.commit /);
});

test("the kit catches a snapshot that does not fit its journal", async () => {
  const forgetsUsage: Intercept = (call, proceed) => {
    if (call.method !== "saveSnapshot") return proceed();
    const snapshot = call.args[1] as { -readonly [Key in keyof Snapshot]: Snapshot[Key] };
    snapshot.state = JSON.stringify({ ...JSON.parse(snapshot.state), usage: { inputTokens: 0, outputTokens: 0 } });
    return proceed();
  };
  const kept = { ...refunding("once"), settings: { limits: { snapshotEvery: 1 } } };
  expect(await problemsWith({}, kept)).toEqual([]);
  const problems = await problemsWith({ around: () => forgetsUsage }, kept);
  expect(problems[0]).toContain("its snapshot folds to another state");
});

test("the kit catches an end that comes twice", async () => {
  const problems = await problemsWith({ around: () => endsTwice, ways: ["before"] }, refunding("idempotent"));
  expect(problems.some((problem) => problem.includes("it has 2 run-ended"))).toBe(true);
});

/** A second end in the same commit: the store has no opinion about it, the journal must. */
const endsTwice: Intercept = (call, proceed) => {
  if (call.method === "commit" && endsRun(call.args[0] as Commit)) {
    const commit = call.args[0] as { -readonly [Key in keyof Commit]: Commit[Key] };
    const last = commit.entries.at(-1);
    if (last) commit.entries = [...commit.entries, last];
  }
  return proceed();
};

function counting(hook: (view: PhaseView, own: { count: number }) => Command): CrashScenario {
  const keeper = plugin({
    name: "keeper",
    state: [count],
    create: () => {
      const own = { count: 0 };
      return { hooks: { "before-step": (view) => hook(view, own), "before-end": async (view) => hook(view, own) } };
    },
  });
  return scenario({
    name: "counting",
    agents: (real) => [
      clerk({
        answers: [calling("refund"), "Refunded."],
        tools: [acting(real, { name: "refund", effect: "idempotent" })],
        plugins: [keeper()],
      }),
    ],
  });
}

const countsInState = counting(({ state }) => count.set(state.get(count) + 1));

test("the kit finds nothing wrong with a plugin that counts in its state", async () => {
  expect(await problemsWith({ ways: ["before", "after"] }, countsInState)).toEqual([]);
});

test("the kit catches a plugin that counts in its instance", async () => {
  const forgetful = counting((_view, own) => {
    own.count += 1;
    return count.set(own.count);
  });
  const problems = await problemsWith({ ways: ["before", "after"] }, forgetful);
  expect(problems.length).toBeGreaterThan(0);
  expect(problems.some((problem) => problem.includes("state:\ncount = 2\ninstead of\ncount = 3"))).toBe(true);
});

test("the kit catches state that is written another time by a recovery", async () => {
  const problems = await problemsWith({ around: () => writesAgain, ways: ["before"] }, countsInState);
  expect(problems.some((problem) => problem.includes("what is said in run start:"))).toBe(true);
  expect(problems.filter((problem) => problem.startsWith("uncut"))).toEqual([]);
});

/** Once a run has changed hands, each write of state is made twice. The value is the same; the journal says so. */
const writesAgain: Intercept = (call, proceed) => {
  if (call.method !== "commit") return proceed();
  const commit = call.args[0] as { -readonly [Key in keyof Commit]: Commit[Key] };
  const writes = commit.entries.filter((entry) => entry.type === "state-changed");
  if (commit.epoch > 1 && endsRun(commit)) commit.entries = [...writes, ...commit.entries];
  return proceed();
};

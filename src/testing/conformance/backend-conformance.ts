/**
 * A backend's promises as named checks, free of any test framework. What a backend does not publish is not skipped: the
 * check proves that it is refused.
 */
import assert from "node:assert/strict";
import { supportsRemoteAbort } from "../../domain/backend/capabilities.ts";
import { type Feature, negotiate, type RootRequirement } from "../../domain/backend/negotiate.ts";
import type { RunResult } from "../../runtime/runtime.ts";
import { type BackendCheck, type Bench, bench, oneTicket, type PlayedBackend, until } from "./backend-fixtures.ts";

const never: Promise<never> = new Promise(() => undefined);

function messageOf(result: RunResult<unknown>): string {
  return result.outcome === "failed" ? result.error.message : result.outcome;
}

async function typesOf({ run }: Bench, id: string): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const event of run(id).watch({ until: "end" })) if ("seq" in event) types.push(event.type);
  return types;
}

/** Answers what the run waits on, whichever kind of ticket that is. */
async function answer(on: Bench, value: string): Promise<void> {
  const ticket = await oneTicket(on);
  if ("approve" in ticket) await ticket.approve();
  else if ("answer" in ticket) await ticket.answer(value as never);
  else assert.fail(`a ${ticket.kind} ticket cannot be answered`);
}

const features: Readonly<
  Record<Extract<Feature, "decisions" | "overrides" | "frontend_tools" | "continuation">, Omit<RootRequirement, "for">>
> = {
  decisions: { decisions: true },
  overrides: { overrides: true },
  frontend_tools: { frontendTools: ["pick"] },
  continuation: { continuation: true },
};

function published({ capabilities }: PlayedBackend, feature: keyof typeof features): boolean {
  const has = {
    decisions: capabilities.decisions,
    overrides: capabilities.overrides,
    frontend_tools: capabilities.frontendTools,
    continuation: capabilities.continuation !== "none",
  };
  return has[feature];
}

async function waitCheck(play: Parameters<BackendCheck>[0], on: "input" | "auth"): Promise<void> {
  await using b = await bench(await play([{ says: "Which one?", waits: on }, { says: "Thanks." }]));
  const { waits } = b.played.capabilities;
  const run = await b.start("go");
  if (waits !== on && waits !== "input-and-auth") {
    assert.match(messageOf(await run.result()), /publishes that it has waits/); // never made up
    return;
  }
  const ticket = await oneTicket(b);
  assert.ok(on === "input" ? ticket.kind === "input" : ["auth", "approval"].includes(ticket.kind), ticket.kind);
  const { heard } = b.played;
  if (heard) assert.equal(ticket.prompt, "Which one?");
  await b.restart(); // a wait outlives every process
  await answer(b, "this one");
  const result = await b.run(run.id).result();
  assert.deepEqual([result.outcome, "output" in result && result.output], ["completed", "Thanks."]);
  if (heard) assert.deepEqual(heard(), ["go", "this one"]);
}

export const backendConformance: Record<string, BackendCheck> = {
  "a turn is a step with its message and its end, in order": async (play) => {
    await using b = await bench(await play([{ says: "Done." }]));
    const run = await b.start("go");
    const result = await run.result();
    assert.deepEqual([result.outcome, "output" in result && result.output], ["completed", "Done."]);
    const wanted = [
      "run-created",
      "run-started",
      "step-started",
      "effect-intended",
      "effect-settled",
      "message-appended",
      "step-ended",
      "run-ended",
    ];
    const types = (await typesOf(b, run.id)).filter((type) => wanted.includes(type));
    assert.deepEqual(
      types.filter((type, index) => type !== "message-appended" || index > 2),
      wanted,
    );
    assert.equal((await run.status()).steps, 1);
  },

  "what is not published is refused by its name, and what is published is not": async (play) => {
    const played = await play([]);
    for (const [feature, asked] of Object.entries(features) as [
      keyof typeof features,
      Omit<RootRequirement, "for">,
    ][]) {
      const found = negotiate({ for: "root", ...asked }, played.capabilities);
      assert.deepEqual(found, published(played, feature) ? { kind: "matched" } : { kind: "refused", gaps: [feature] });
    }
    await played[Symbol.asyncDispose]();
  },

  "an error at the other side fails the run with its text": async (play) => {
    await using b = await bench(await play([{ fails: "no such order" }]));
    const run = await b.start("go");
    assert.match(messageOf(await run.result()), /no such order/);
    const types = await typesOf(b, run.id);
    assert.deepEqual(types.slice(-2), ["step-ended", "run-ended"]);
  },

  "a wait for input is a ticket, and its answer goes on": (play) => waitCheck(play, "input"),
  "a wait for a login is a ticket, and its answer goes on": (play) => waitCheck(play, "auth"),

  "a cancel ends the run as cancelled, and the other side is told where it can be": async (play) => {
    await using b = await bench(await play([{ says: "late", until: never }]));
    const run = await b.start("go");
    const { heard, aborted, capabilities } = b.played;
    if (heard) await until(() => heard().length === 1);
    await run.cancel({ reason: "enough" });
    assert.equal((await run.result()).outcome, "cancelled");
    if (aborted && supportsRemoteAbort(capabilities.cancellation)) await until(() => aborted() > 0);
    else assert.equal(aborted?.() ?? 0, 0);
  },

  "a cancel of a run that waits ends what waits at the other side": async (play) => {
    await using b = await bench(await play([{ says: "Which one?", waits: "input" }]));
    const { capabilities, aborted } = b.played;
    if (capabilities.waits === "none" || capabilities.waits === "auth") return; // proven above
    const run = await b.start("go");
    await oneTicket(b);
    await b.restart();
    await b.run(run.id).cancel();
    assert.equal((await b.run(run.id).result()).outcome, "cancelled");
    if (aborted && supportsRemoteAbort(capabilities.cancellation)) assert.ok(aborted() > 0);
    assert.deepEqual(await b.tickets(), []);
  },

  "a turn whose process dies is found again, and its message is taken once": async (play) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await using b = await bench(await play([{ says: "Done.", until: promise }, { says: "Done." }]));
    const { heard, capabilities } = b.played;
    const run = await b.start("go");
    if (heard) await until(() => heard().length === 1);
    await b.restart();
    resolve();
    if (capabilities.persistence === "ephemeral") {
      assert.equal((await oneTicket(b)).kind, "unknown-outcome"); // nothing of it can be found
      return;
    }
    assert.equal((await b.run(run.id).result()).outcome, "completed");
    if (heard) assert.deepEqual(heard(), ["go"]);
  },

  "earlier messages are read, or a turn that needs them is refused": async (play) => {
    await using b = await bench(await play([{ says: "One." }, { says: "Two." }]));
    await (await b.start("first", "t-1")).result();
    const result = await (await b.start("second", "t-1")).result();
    if (b.played.capabilities.transcript !== "single-prompt") return assert.equal(result.outcome, "completed");
    assert.match(messageOf(result), /backend does not support: transcript/);
  },

  "earlier messages become one text where the agent allows it": async (play) => {
    const played = await play([{ says: "One." }, { says: "Two." }], ["transcript"]);
    await using b = await bench(played);
    await (await b.start("first", "t-1")).result();
    assert.equal((await (await b.start("second", "t-1")).result()).outcome, "completed");
    const { heard, capabilities } = played;
    if (heard && capabilities.transcript === "single-prompt")
      assert.match(heard()[1] ?? "", /first[\s\S]*One\.[\s\S]*second/);
  },

  "artifacts are kept with the run, or it says that it cannot": async (play) => {
    await using b = await bench(
      await play([{ says: "Done.", artifacts: [{ name: "report", content: { total: 3 } }] }]),
    );
    const { heard, capabilities } = b.played;
    if (!heard) return; // a run of this process has messages instead
    const run = await b.start("go");
    const result = await run.result();
    if (capabilities.output === "text") return assert.match(messageOf(result), /artifacts cannot be kept/);
    assert.equal(result.outcome, "completed");
    const { values } = await run.state();
    assert.match(JSON.stringify(values.__runtime_backend_output), /"total":3/);
  },
};

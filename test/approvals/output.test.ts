/** The output stage: an answer is read by nobody before it was let through (L1–L4 of let-out, V1–V3). On every store. */
import { expect, test } from "vitest";
import { z } from "zod";
import {
  agent,
  type Policy,
  type PolicyOptions,
  plugin,
  policy,
  type Sink,
  type SinkMessage,
} from "../../src/index.ts";
import type { ModelRequest } from "../../src/ports/provider.ts";
import type { Ticket } from "../../src/runtime/runtime.ts";
import { type ScriptedAnswer, scripted, testRuntime } from "../../src/testing.ts";
import { onEveryStore } from "../scenarios/stores.ts";

const canary = "canary-4711";
const note = z.object({ note: z.string() });
const asJson = (text: string): string => JSON.stringify({ note: text });

function rules(output: PolicyOptions["output"]): Policy {
  return policy({ name: "house", version: "7", ...(output ? { output } : { "run-start": () => "allow" as const }) });
}

/** Whatever anyone could learn of a run: its events and live pieces, with and without content, sinks, threads, results. */
onEveryStore((freshStore) => {
  async function play(
    house: Policy,
    answers: readonly ScriptedAnswer[] = [`The number is ${canary}.`],
    extra: object = {},
  ) {
    const delivered: SinkMessage[] = [];
    const crm: Sink = { deliver: async (message) => void delivered.push(message) };
    const one = agent({
      name: "clerk",
      model: scripted(answers),
      instructions: "Answer.",
      policy: house,
      sinks: ["crm"],
      ...extra,
    });
    const t = await testRuntime({ agents: [one], store: freshStore(), settings: { sinks: { crm } } });
    const run = await t.runtime.start(one, "go", { thread: "t" });
    const told: unknown[] = [];
    const watching = (async () => {
      for await (const event of run.watch()) told.push(event);
    })();
    const seeThrough = async () => {
      const result = await run.result();
      await watching;
      await t.advance("2m");
      const again: unknown[] = [];
      for await (const event of run.watch()) again.push(event);
      const messages = await t.runtime.threads.messages("t");
      const everything = JSON.stringify([result, told, again, delivered, messages, await t.runtime.tickets.list()]);
      return { result, told, again, delivered, messages, everything };
    };
    return { t, run, one, told, seeThrough };
  }

  test("L1 what the stage allows is published as it was, and nothing of it is told before", async () => {
    const seen: unknown[] = [];
    const { t, seeThrough } = await play(
      rules(({ output }) => {
        seen.push(output);
        return "allow";
      }),
    );
    await using _closing = t;
    const { result, told, delivered } = await seeThrough();
    expect(seen).toMatchObject([{ text: `The number is ${canary}.` }]);
    expect(result).toMatchObject({ outcome: "completed", output: `The number is ${canary}.` });
    expect(told.filter((event) => (event as { type: string }).type.endsWith("-delta"))).toEqual([]);
    expect(delivered.map(({ type }) => type)).toEqual(["run-ended"]); // an answer in words is no output for sinks
  });

  test("L1 V3 a denied answer is in no result, event, piece, sink, ticket or message; its reason, code and policy are", async () => {
    const open = await play(rules(undefined));
    {
      await using _closing = open.t;
      expect((await open.seeThrough()).everything).toContain(canary); // the check below can see one
    }
    const { t, seeThrough, one } = await play(rules(async () => ({ deny: "account numbers", code: "pii.account" })));
    await using _closing = t;
    const { result, everything, delivered, again } = await seeThrough();
    expect(everything).not.toContain(canary);
    const why = { code: "pii.account", policy: { name: "house", version: "7", stage: "output" } };
    expect(result).toMatchObject({ outcome: "blocked", reason: "pii.account: account numbers", ...why });
    expect(result).not.toHaveProperty("output");
    expect(delivered).toMatchObject([{ type: "run-ended", outcome: { kind: "blocked", code: "pii.account" } }]);
    expect(again).toContainEqual(
      expect.objectContaining({
        type: "command-applied",
        phase: "output-gate",
        commands: [
          expect.objectContaining({ policy: why.policy, command: expect.objectContaining({ code: why.code }) }),
        ],
      }),
    );
    expect(again).toContainEqual(expect.objectContaining({ type: "message-appended", gate: "withheld" }));
    const requests: ModelRequest[] = [];
    const later = agent({
      ...{ name: "later", instructions: "Go on." },
      model: scripted([
        (request) => {
          requests.push(request);
          return "ok";
        },
      ]),
    });
    expect(one.name).toBe("clerk");
    await using next = await testRuntime({ agents: [later] });
    await (await next.runtime.start(later, "and?")).result();
    expect(JSON.stringify(requests)).not.toContain(canary);
  });

  test("V3 later runs of the thread read that an answer was withheld, and not the answer", async () => {
    const requests: ModelRequest[] = [];
    let denied = false;
    const once = rules(() => {
      if (denied) return "allow";
      denied = true;
      return { deny: "no" };
    });
    const saw: ScriptedAnswer = (request) => {
      requests.push(request);
      return requests.length === 1 ? canary : "Fine.";
    };
    const { t, one, run } = await play(once, [saw, saw]);
    await using _closing = t;
    await run.result();
    const next = await t.runtime.start(one, "and now?", { thread: "t" });
    expect(await next.result()).toMatchObject({ outcome: "completed", output: "Fine." });
    expect(JSON.stringify(requests[1])).toContain("[The answer is withheld: policy.denied: no]");
    expect(JSON.stringify(requests)).not.toContain(canary);
  });

  test("O1 a typed answer is put to the stage with its value; its report is pending until it was let through", async () => {
    const seen: unknown[] = [];
    const { t, seeThrough } = await play(
      rules(async ({ output }) => {
        seen.push(output);
        return "allow" as const;
      }),
      [asJson("fine")],
      { output: note },
    );
    await using _closing = t;
    const { result, again, delivered } = await seeThrough();
    expect(seen).toMatchObject([{ text: asJson("fine"), value: { note: "fine" } }]);
    expect(result).toMatchObject({ outcome: "completed", output: { note: "fine" } });
    const reports = again.filter((event) => (event as { type: string }).type === "output-validated");
    expect(reports).toMatchObject([
      { pending: true, report: { valid: true, value: "[hidden]" } },
      { report: { valid: true, value: { note: "fine" } } },
    ]);
    expect(reports[1]).not.toHaveProperty("pending");
    expect(delivered[0]).toMatchObject({ type: "output", output: { note: "fine" } });
  });

  test("V3 a denied typed answer is told neither as text nor as value", async () => {
    const { t, seeThrough } = await play(
      rules(() => ({ deny: "no" })),
      [asJson(canary)],
      { output: note },
    );
    await using _closing = t;
    const { result, everything } = await seeThrough();
    expect(result).toMatchObject({ outcome: "blocked" });
    expect(everything).not.toContain(canary);
  });

  const changed = [
    { what: "text", extra: {}, said: `The number is ${canary}.`, modify: "The number is …" },
    { what: "value", extra: { output: note }, said: asJson(canary), modify: { note: "…" } },
  ];

  test.each(changed)("L4 modify: another $what is published, and only that", async ({ extra, said, modify }) => {
    const { t, seeThrough } = await play(
      rules(async () => ({ modify })),
      [said],
      extra,
    );
    await using _closing = t;
    const { result, everything, messages } = await seeThrough();
    expect(result).toMatchObject({ outcome: "completed", output: modify });
    expect(everything).not.toContain(canary);
    expect(JSON.stringify(messages)).toContain("…");
  });

  test("L4 a changed value that does not fit fails the run: it is not repaired and nobody reads either", async () => {
    const { t, seeThrough } = await play(
      rules(() => ({ modify: { note: 42 } })),
      [asJson(canary), asJson("second")],
      {
        output: note,
      },
    );
    await using _closing = t;
    const { result, everything } = await seeThrough();
    expect(result).toMatchObject({ outcome: "failed", steps: 1, error: { code: "output-invalid" } });
    expect(JSON.stringify(result)).toContain("Policy house changed the output, and it does not fit: look at $.note");
    expect(everything).not.toContain(canary);
  });

  test("an answer that does not fit is not put to the stage; it is withheld, and the model repairs it", async () => {
    const seen: unknown[] = [];
    const house = rules(({ output }) => {
      seen.push(output.value);
      return "allow";
    });
    const { t, seeThrough } = await play(house, [`${canary} is no JSON`, asJson("better")], { output: note });
    await using _closing = t;
    const { result, everything } = await seeThrough();
    expect(seen).toEqual([{ note: "better" }]);
    expect(result).toMatchObject({ outcome: "completed", output: { note: "better" }, steps: 2 });
    expect(everything).not.toContain(canary);
    expect(everything).toContain("It is not JSON");
  });

  const byTool = { output: note, outputMode: "tool" };
  const answering = (text: string): ScriptedAnswer => ({ calls: [{ tool: "holdfast_answer", input: { note: text } }] });

  test("L1 an answer by the answer tool is held back like any other: allowed, denied, changed", async () => {
    const allowed = await play(
      rules(async () => "allow" as const),
      [answering("fine")],
      byTool,
    );
    {
      await using _closing = allowed.t;
      const { result, told } = await allowed.seeThrough();
      expect(result).toMatchObject({ outcome: "completed", output: { note: "fine" }, steps: 1 });
      expect(told.filter((event) => (event as { type: string }).type.endsWith("-delta"))).toEqual([]);
    }
    const denied = await play(
      rules(({ output }) => ({ deny: `${output.text.length} letters` })),
      [answering(canary)],
      byTool,
    );
    {
      await using _closing = denied.t;
      const { result, everything } = await denied.seeThrough();
      expect(result).toMatchObject({ outcome: "blocked", reason: "policy.denied: 22 letters" });
      expect(everything).not.toContain(canary);
    }
    const changed = await play(
      rules(async () => ({ modify: { note: "…" } })),
      ["only words", answering(canary)],
      byTool,
    );
    await using _closing = changed.t;
    const { result, everything } = await changed.seeThrough();
    expect(result).toMatchObject({ outcome: "completed", output: { note: "…" }, steps: 2 });
    expect(everything).not.toContain(canary);
  });

  const may = { ask: "May it say so?", terms: { audience: { roles: ["editor"] }, answerWithinMs: 60_000 } };

  async function asked(extra: object = {}, answers: readonly ScriptedAnswer[] = [canary]) {
    const story = await play(
      rules(() => may),
      answers,
      extra,
    );
    const idle = await story.run.idle();
    if (idle.status !== "waiting") throw new Error("it should wait");
    const [ticket] = idle.tickets;
    if (ticket?.kind !== "approval") throw new Error("no approval");
    return { ...story, ticket };
  }

  test("ask: a person reads the answer on the ticket and nowhere else; a yes publishes it", async () => {
    const { t, ticket, told, run, seeThrough } = await asked();
    await using _closing = t;
    expect(ticket).toMatchObject({
      prompt: "May it say so?",
      output: canary,
      policy: { stage: "output", version: "7" },
    });
    expect(JSON.stringify(told)).not.toContain(canary);
    expect(await run.status()).toMatchObject({ status: "waiting", steps: 0 });
    await expect(ticket.approve({ by: "ana" })).rejects.toMatchObject({ code: "answer-not-allowed" });
    await ticket.approve({ by: "ana", roles: ["editor"] });
    expect((await seeThrough()).result).toMatchObject({ outcome: "completed", output: canary });
  });

  const noes: readonly (readonly [
    string,
    string,
    (ticket: Extract<Ticket, { kind: "approval" }>) => Promise<unknown>,
  ])[] = [
    ["a no", "policy.rejected", (ticket) => ticket.reject("not like this", { by: "ana", roles: ["editor"] })],
    ["nobody in time", "policy.expired", async () => undefined],
  ];

  test.each(noes)("ask: %s ends the run, and the answer is published by nobody", async (_what, code, answer) => {
    const { t, ticket, run } = await asked({ output: note }, [asJson(canary)]);
    await using _closing = t;
    await answer(ticket);
    await t.advance("2m");
    const result = await run.result();
    expect(result).toMatchObject({ outcome: "blocked", code, policy: { name: "house", stage: "output" } });
    const events: unknown[] = [];
    for await (const event of run.watch()) events.push(event);
    expect(JSON.stringify([result, events])).not.toContain(canary);
  });

  test("ask: the wait survives a restart, and the stage is not asked again", async () => {
    let times = 0;
    const counted = rules(() => {
      times += 1;
      return may;
    });
    const { t, run, one } = await play(counted, [asJson(canary)], { output: note });
    await using _closing = t;
    await run.idle();
    t.process.kill();
    await t.restart();
    const [ticket] = await t.runtime.tickets.list({ status: "open" });
    if (ticket?.kind !== "approval") throw new Error("no approval");
    expect(ticket.output).toBe(asJson(canary));
    await ticket.approve({ by: "ana", roles: ["editor"] });
    expect(await t.runtime.runs.get(run.id, one).result()).toMatchObject({ output: { note: canary } });
    expect(times).toBe(1);
  });

  test("L3 a run that is cancelled while somebody is asked leaves no answer behind", async () => {
    const { t, run, ticket, seeThrough } = await asked();
    await using _closing = t;
    expect(ticket.output).toBe(canary);
    await run.cancel({ by: "ana" });
    const { result, messages, told } = await seeThrough();
    expect(result).toMatchObject({ outcome: "cancelled" });
    expect(JSON.stringify([result, messages, told])).not.toContain(canary);
    expect(JSON.stringify(messages)).toContain("The answer is withheld");
  });

  test("a plugin that ends a run as completed gives it no answer that was not let through", async () => {
    const ending = plugin({
      name: "ending",
      create: () => ({ hooks: { "after-model": () => ({ type: "stop", code: "enough", outcome: "completed" }) } }),
    })();
    const calls: ScriptedAnswer = { text: canary, calls: [{ tool: "none", input: {} }] };
    const { t, seeThrough } = await play(
      rules(() => ({ deny: "all" })),
      [calls],
      { plugins: [ending] },
    );
    await using _closing = t;
    const { result, again } = await seeThrough();
    expect(result).toMatchObject({ outcome: "completed", output: "" });
    expect(again.at(-1)).toMatchObject({ type: "run-ended", unsaid: true });
  });
});

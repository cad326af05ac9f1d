/** The optional fields of commands, and several plugins that say the same command: what each of them changes. */
import { describe, expect, test } from "vitest";
import type { AddContext, Command } from "../../../src/domain/command.ts";
import type { Message } from "../../../src/domain/message.ts";
import { momentsIn, resultsIn } from "./journal.ts";
import { answer, hookedIn, type Played, play, pluginOf, saysOnce } from "./world.ts";

const goOn: Command = { type: "continue", message: "Go on." };

/** Said in before-run; the run has four steps, so that what lasts is seen to last. */
async function told(...commands: readonly Partial<AddContext>[]): Promise<Played["requests"]> {
  const says = commands.map((each): Command => ({ type: "add-context", key: "k", text: "Mind.", ...each }));
  const { requests } = await play(
    "before-run",
    pluginOf({
      "before-run": saysOnce(() => says, "sync"),
      "before-end": ({ step }) => (step < 4 ? goOn : undefined),
    }),
  );
  expect(requests).toHaveLength(4);
  return requests;
}

function isSaid({ instructions, messages }: Played["requests"][number]): boolean {
  return JSON.stringify([instructions, messages]).includes("Mind.");
}

function words({ parts }: Message): unknown {
  const [part] = parts;
  return part?.type === "text" ? part.text : part?.type;
}

describe("add-context", () => {
  const places = [
    ["system", undefined, 0],
    ["session", "system", 0],
    ["conversation", "user", 0],
    ["suffix", "system", 1],
  ] as const;

  test.each(places)("for %s", async (target, role, place) => {
    const [request] = await told({ target });
    if (role === undefined) {
      expect(request?.instructions).toBe("Act.\n\nMind.");
      expect(request?.messages.map(words)).toEqual(["act"]);
    } else {
      expect(request?.instructions).toBe("Act.");
      expect(request?.messages.map(words)).toEqual(place === 0 ? ["Mind.", "act"] : ["act", "Mind."]);
      expect(request?.messages[place]).toMatchObject({ role });
    }
  });

  test("is for system unless said, once, and no message of the thread", async () => {
    const requests = await told({});
    expect(requests[0]?.instructions).toBe("Act.\n\nMind.");
    expect(requests.map(isSaid)).toEqual([true, false, false, false]);
  });

  test("is said at every step where it is persistent", async () => {
    expect((await told({ persistent: true })).map(isSaid)).toEqual([true, true, true, true]);
  });

  test("is said once where it is consumed", async () => {
    expect((await told({ consumeOnce: true })).map(isSaid)).toEqual([true, false, false, false]);
  });

  test("leaves as many steps out as its cooldown says", async () => {
    expect((await told({ persistent: true, cooldown: 1 })).map(isSaid)).toEqual([true, false, true, false]);
    expect((await told({ persistent: true, cooldown: 2 })).map(isSaid)).toEqual([true, false, false, true]);
  });

  test("replaces what the same plugin said with the same key, and nothing of another", async () => {
    const [request] = await told({ text: "Mind. First." }, { text: "Mind. Second." }, { key: "other", text: "Third." });
    expect(request?.instructions).toBe("Act.\n\nMind. Second.\n\nThird.");
    const both = ["a", "b"].map((name) =>
      hookedIn("before-run", () => ({ type: "add-context", key: "k", text: `From ${name}.` }), name),
    );
    const { requests } = await play("before-run", ...both);
    expect(requests[0]?.instructions).toBe("Act.\n\nFrom a.\n\nFrom b.");
  });

  test("comes by priority, lower ones first", async () => {
    const [request] = await told(
      { key: "late", text: "Mind. Late.", priority: 5 },
      { key: "plain", text: "Plain." },
      { key: "early", text: "Early.", priority: -5 },
    );
    expect(request?.instructions).toBe("Act.\n\nEarly.\n\nPlain.\n\nMind. Late.");
  });
});

describe("deny with stop ends the run as blocked", () => {
  test.each(["tool-gate", "before-tool"] as const)("in %s", async (phase) => {
    const deny: Command = { type: "deny", reason: "Never.", stop: true };
    const { result, executed, requests, journal } = await play(
      phase,
      hookedIn(phase, () => deny),
    );
    expect(result).toMatchObject({ outcome: "blocked", reason: "Never." });
    expect(resultsIn(journal)).toMatchObject([{ code: "denied", message: "Never." }]);
    expect([executed.length, requests.length]).toEqual([0, 1]);
  });
});

const stops = [
  [{}, { outcome: "stopped", code: "enough" }],
  [{ detail: "Why." }, { outcome: "stopped", code: "enough", detail: "Why." }],
  [{ outcome: "stopped" }, { outcome: "stopped", code: "enough" }],
  [{ outcome: "blocked" }, { outcome: "blocked", reason: "enough" }],
  [
    { outcome: "blocked", detail: "Why." },
    { outcome: "blocked", reason: "Why." },
  ],
  [{ outcome: "completed" }, { outcome: "completed", reason: "requested", output: "" }],
] as const;

test.each(stops)("stop with %o", async (fields, result) => {
  const stop: Command = { type: "stop", code: "enough", ...fields };
  expect(
    (
      await play(
        "after-step",
        hookedIn("after-step", () => stop),
      )
    ).result,
  ).toMatchObject(result);
});

test("of two stops the first by registration counts", async () => {
  const both = ["b", "a"].map((name) => hookedIn("before-step", () => ({ type: "stop", code: name }), name));
  expect((await play("before-step", ...both)).result).toMatchObject({ outcome: "stopped", code: "b" });
});

test("rewrite-result with an error, with words, and without", async () => {
  const rewritten = async (fields: object): Promise<unknown> => {
    const { journal, requests } = await play(
      "after-tool",
      hookedIn("after-tool", () => ({ type: "rewrite-result", ...fields })),
    );
    expect(JSON.stringify(requests)).not.toContain(answer);
    return resultsIn(journal)[0];
  };
  expect(await rewritten({ error: "No." })).toEqual({ kind: "error", code: "tool-failed", message: "No." });
  expect(await rewritten({ value: null })).toEqual({ kind: "value", value: null });
  expect(await rewritten({ value: { a: 1 }, say: "One." })).toEqual({ kind: "value", value: { a: 1 }, say: "One." });
});

test("set-result without words", async () => {
  const { journal } = await play(
    "before-tool",
    hookedIn("before-tool", () => ({ type: "set-result", value: [1] })),
  );
  expect(resultsIn(journal)).toEqual([{ kind: "value", value: [1] }]);
});

test("patch-request changes settings field by field, and instructions only where it says so", async () => {
  const patches: readonly Command[] = [
    { type: "patch-request", settings: { temperature: 0.1, seed: 1 } },
    { type: "patch-request", settings: { temperature: 0.9 } },
  ];
  const both = patches.map((patch, index) =>
    hookedIn(
      "before-model",
      saysOnce(() => [patch], "sync"),
      `p${index}`,
    ),
  );
  const { requests } = await play("before-model", ...both);
  expect(requests[0]).toMatchObject({ instructions: "Act.", settings: { temperature: 0.9, seed: 1 } });
});

test("restrict-tools of two plugins leaves what both of them name, and hide-tools wins over it", async () => {
  const restrict = (name: string, tools: readonly string[]): ReturnType<typeof hookedIn> =>
    hookedIn(
      "before-step",
      saysOnce(() => [{ type: "restrict-tools", tools }], "sync"),
      name,
    );
  const { requests } = await play("before-step", restrict("a", ["work", "guarded"]), restrict("b", ["guarded", "x"]));
  expect(requests[0]?.tools.map(({ name }) => name)).toEqual(["guarded"]);
  const hide = hookedIn(
    "before-step",
    saysOnce(() => [{ type: "hide-tools", tools: ["guarded"] }], "sync"),
    "h",
  );
  const { requests: none } = await play("before-step", restrict("a", ["guarded"]), hide);
  expect(none[0]?.tools).toEqual([]);
});

test("open-ticket by two plugins: both are asked, and both must be answered", async () => {
  const asks = (name: string): Command => ({ type: "open-ticket", name, prompt: `${name}?` });
  const both = ["a", "b"].map((name) =>
    hookedIn(
      "before-model",
      saysOnce(() => [asks(name)], "sync"),
      name,
    ),
  );
  const decided: unknown[] = [];
  const hears = hookedIn("on-decision", (view) => void decided.push((view as { ticket?: unknown }).ticket), "ear");
  const { waits, result } = await play("before-model", ...both, hears);
  expect(waits.map(({ ticket, requests }) => [ticket.prompt, requests])).toEqual([
    ["a?", 0],
    ["b?", 0],
  ]);
  expect(decided).toMatchObject([
    { kind: "input", name: "a", plugin: "a" },
    { kind: "input", name: "b", plugin: "b" },
  ]);
  expect(result.outcome).toBe("completed");
});

test("a moment is one entry, with the commands of all plugins in their order, and state before it", async () => {
  const both = ["b", "a"].map((name) =>
    hookedIn("before-run", () => [{ type: "add-context", key: name, text: name }], name),
  );
  const { journal } = await play("before-run", ...both);
  expect(momentsIn(journal)).toMatchObject([{ phase: "before-run", commands: [{ plugin: "b" }, { plugin: "a" }] }]);
});

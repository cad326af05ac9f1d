import { describe, expect, test } from "vitest";
import type { Delta, MessagePartial, MessageRetracted } from "../../src/domain/delta.ts";
import type { EventBody, EventType, RunEvent } from "../../src/domain/event.ts";
import { withoutContent } from "../../src/domain/event-content.ts";
import { type Fingerprint, type InputId, toolEffectId } from "../../src/domain/ids.ts";
import type { Message } from "../../src/domain/message.ts";
import { agent } from "../../src/index.ts";
import { scripted, testRuntime } from "../../src/testing.ts";
import * as j from "../domain/journal.ts";

const canary = "canary-words";
const step = 1;
const print = "f".repeat(64) as Fingerprint;
const effect = toolEffectId(j.call(), 1);

function says(): Message {
  const call = j.call();
  return {
    ...j.userSays(canary),
    parts: [
      { type: "text", text: canary },
      { type: "reasoning", text: canary, metadata: { vendor: { signature: canary } } },
      { type: "image", mediaType: canary, url: canary },
      { type: "file", mediaType: canary, url: canary, name: canary, metadata: { [canary]: { mark: canary } } },
      { type: "image", mediaType: canary, content },
      { type: "file", mediaType: canary, content, name: canary },
      { type: "tool-result", call, tool: "pay", result: { kind: "value", value: null, say: canary, shown } },
      { type: "tool-call", call, tool: "pay", input: { kind: "json", value: { to: canary } }, alias: canary },
      { type: "tool-call", call, tool: "pay", input: { kind: "text", text: canary, problem: canary } },
      { type: "tool-result", call, tool: "pay", result: { kind: "value", value: [canary], say: canary } },
      { type: "tool-result", call, tool: "pay", result: { kind: "error", code: "tool-failed", message: canary } },
      { type: "data", name: canary, data: { deep: [canary] } },
    ],
  };
}

const content = { hash: canary, bytes: 7, mediaType: canary };
const shown = [{ type: "image", mediaType: canary, content }] as const;

const error = { code: "model-failed", message: canary };
type Body<Type extends EventType> = Extract<EventBody, { readonly type: Type }>;
type Examples = { readonly [Type in EventType]: readonly EventBody[] };

function outcomes(): readonly Body<"run-ended">["outcome"][] {
  return [
    { kind: "completed", reason: "natural" },
    { kind: "stopped", code: "loop", detail: canary },
    { kind: "blocked", reason: canary },
    { kind: "cancelled", reason: canary },
    { kind: "failed", error, retry: "never" },
    { kind: "timed-out" },
  ];
}

const commands: Body<"command-applied">["commands"] = [
  { plugin: "p", command: { type: "set-state", key: "k", value: canary, operand: canary } },
  { plugin: "p", command: { type: "add-context", key: "k", text: canary } },
  { plugin: "p", command: { type: "hide-tools", tools: ["pay"] } },
  { plugin: "p", command: { type: "restrict-tools", tools: ["pay"] } },
  { plugin: "p", command: { type: "patch-request", instructions: canary, settings: { [canary]: canary } } },
  { plugin: "p", command: { type: "deny", reason: canary } },
  { plugin: "p", command: { type: "ask", prompt: canary } },
  { plugin: "p", command: { type: "set-result", value: canary, say: canary } },
  { plugin: "p", command: { type: "patch-input", input: { to: canary } } },
  { plugin: "p", command: { type: "rewrite-result", value: canary, say: canary, error: canary } },
  { plugin: "p", command: { type: "retry", reason: canary } },
  { plugin: "p", command: { type: "stop", code: "c", detail: canary } },
  { plugin: "p", command: { type: "continue", message: canary } },
  { plugin: "p", command: { type: "schedule", phase: "before-step", command: { type: "continue", message: canary } } },
  { plugin: "p", command: { type: "open-ticket", name: "n", prompt: canary } },
  { plugin: "p", command: { type: "send-input", run: "run-2", message: canary } },
];

// A new type of event without an example does not compile.
const examples: Examples = {
  "run-created": [{ type: "run-created", identity: j.identity, input: [says()], priority: 1 }],
  "run-started": [{ type: "run-started", identity: j.identity, position: 3 }],
  "run-waiting": [{ type: "run-waiting", tickets: [j.ticket().id], reasons: ["approval"] }],
  "run-resumed": [{ type: "run-resumed" }],
  "run-ended": outcomes().map((outcome) => ({ type: "run-ended", identity: j.identity, outcome, answer: 4 })),
  "step-started": [{ type: "step-started", step }],
  "step-ended": [{ type: "step-ended", step }],
  "context-projected": [
    {
      ...j.projected(),
      mark: {
        ...j.projected().mark,
        summary: { id: says().id, text: canary, of: { from: says().id, to: says().id, messages: 1 } },
      },
    },
  ],
  "effect-intended": [{ type: "effect-intended", effect, kind: "tool", call: j.call(), attempt: 1 }],
  "effect-settled": (
    [
      { kind: "done", usage: { inputTokens: 1, outputTokens: 2 }, finish: "stop" },
      { kind: "failed", error, retry: "later", retryAt: 5 },
      { kind: "refused", code: "tool-failed", message: canary },
      { kind: "unknown", why: canary, decidableFrom: 7 },
    ] as const
  ).map((result) => ({ type: "effect-settled", effect, attempt: 1, result })),
  "call-gated": (
    [
      { kind: "allow", input: canary, by: "p" },
      { kind: "ask", ticket: "approval", prompt: canary, problem: canary, input: canary, terms: {} },
      { kind: "refuse", code: "denied", message: canary },
      { kind: "result", result: { kind: "value", value: canary } },
    ] as const
  ).map((verdict) => ({ type: "call-gated", call: j.call(), verdict })),
  "message-appended": [
    { type: "message-appended", message: says() },
    { type: "message-appended", from: 1, index: 0 },
  ],
  "command-applied": [
    { type: "command-applied", phase: "after-step", commands },
    { type: "command-applied", phase: "after-step", commands: [], failed: { plugin: "p", error } },
  ],
  "state-changed": [
    { type: "state-changed", key: "k", scope: "run", version: 1, change: { value: canary, operand: canary }, by: "p" },
    {
      ...{ type: "state-changed", key: "k", scope: "run", version: 1, by: "p" },
      change: { merge: "union", initial: [canary], operand: [canary] },
    },
  ],
  "output-validated": [
    { type: "output-validated", step, report: { valid: true, value: { to: canary } } },
    { type: "output-validated", step, report: { valid: false, problems: [canary, canary] } },
  ],
  "manifest-amended": [{ type: "manifest-amended", from: print, fingerprint: print, changed: ["pay"] }],
  "ticket-opened": [{ type: "ticket-opened", ticket: { ...j.ticket(), prompt: canary, problem: canary } }],
  "ticket-decided": (
    [
      { kind: "approve", value: canary },
      { kind: "edit", input: { to: canary } },
      { kind: "reject", reason: canary },
      { kind: "mark-done", result: canary },
      { kind: "release" },
    ] as const
  ).map((decision) => ({ type: "ticket-decided", ticket: j.ticket().id, decision, by: "ana" })),
  "input-received": [{ type: "input-received", input: "in-1" as InputId, message: says(), by: "ana" }],
  "input-withdrawn": [{ type: "input-withdrawn", input: "in-1" as InputId, by: "ana" }],
  "cancel-requested": [{ type: "cancel-requested", by: "ana", reason: canary }],
  "pause-requested": [{ type: "pause-requested", by: "ana", reason: canary }],
};

const stamp = { run: j.run, thread: j.thread, seq: 4, at: 1_004, cursor: "c4" };

/** Types without anybody's words in them: all of such an event is shown to everybody. */
const metadata: readonly EventType[] = [
  "run-started",
  "run-waiting",
  "run-resumed",
  "step-started",
  "step-ended",
  "effect-intended",
  "manifest-amended",
  "input-withdrawn",
];

describe.each(Object.entries(examples) as [EventType, readonly EventBody[]][])("%s", (type, bodies) => {
  const events = bodies.map((body): RunEvent => ({ ...stamp, ...body }));

  test("C1: its content is there with access, and nowhere without", () => {
    expect(JSON.stringify(events).includes(canary)).toBe(!metadata.includes(type)); // the check can fail
    expect(JSON.stringify(events.map(withoutContent))).not.toContain(canary);
  });

  test("C3: it has the same stamp, cursor and shape, and metadata as it was", () => {
    for (const event of events) {
      const seen = withoutContent(event);
      expect(seen).toMatchObject({ ...stamp, type });
      expect(Object.keys(seen)).toEqual(Object.keys(event));
      if (metadata.includes(type)) expect(seen).toEqual(event);
    }
  });
});

const live = { run: j.run, thread: j.thread, step, attempt: 1 };
const message = j.userSays("x").id;
type Piece = Delta | MessagePartial | MessageRetracted;
const pieces: { readonly [Type in Piece["type"]]: Extract<Piece, { readonly type: string }> } = {
  "text-delta": { ...live, type: "text-delta", message, text: canary },
  "reasoning-delta": { ...live, type: "reasoning-delta", message, text: canary },
  "tool-input-delta": { ...live, type: "tool-input-delta", message, index: 0, tool: "pay", text: canary },
  "tool-progress": { ...live, type: "tool-progress", call: j.call(), progress: { at: canary } },
  "message-partial": {
    ...{ ...live, type: "message-partial", message, text: canary, reasoning: "" },
    inputs: [{ index: 0, tool: "pay", text: canary }],
  },
  "message-retracted": { ...live, type: "message-retracted", message },
};

test.each(Object.values(pieces))("C1: a piece of type $type shows no content", (piece) => {
  expect(JSON.stringify(piece).includes(canary)).toBe(piece.type !== "message-retracted");
  const seen = withoutContent(piece);
  expect(JSON.stringify(seen)).not.toContain(canary);
  expect(seen).toMatchObject({ ...live, type: piece.type });
});

test("C2: what a newer version wrote is hidden until it has a rule", () => {
  const newField = { ...stamp, type: "step-started", step, note: canary } as unknown as RunEvent;
  const newType = { ...stamp, type: "poem-written", poem: { text: canary } } as unknown as RunEvent;
  const newKind = { ...stamp, type: "run-ended", outcome: { kind: "sold", price: canary } } as unknown as RunEvent;
  expect(withoutContent(newField)).toEqual({ ...stamp, type: "step-started", step, note: "[hidden]" });
  expect(withoutContent(newType)).toEqual({ ...stamp, type: "poem-written", poem: "[hidden]" });
  expect(withoutContent(newKind)).toMatchObject({ outcome: { kind: "sold", price: "[hidden]" } });
});

test("both kinds of watch give the same events with the same cursors, with and without content", async () => {
  const poet = agent({
    name: "poet",
    instructions: "Write.",
    model: scripted([{ text: `A ${canary}.`, pieces: 4, delayMs: 20 }]),
  });
  await using t = await testRuntime({ agents: [poet] });
  const run = await t.runtime.start(poet, canary);
  const live: string[] = [];
  for await (const event of run.watch({ content: false })) live.push(JSON.stringify(event));
  expect(live.join()).toContain("text-delta");
  expect(live.join()).not.toContain("canary");
  const read = async (content: boolean): Promise<RunEvent[]> => {
    const seen: RunEvent[] = [];
    for await (const event of run.watch({ content })) if ("seq" in event) seen.push(event);
    return seen;
  };
  const [shown, hidden] = [await read(true), await read(false)];
  expect(JSON.stringify(shown)).toContain(canary);
  expect(hidden).toEqual(shown.map(withoutContent));
  const stop = new AbortController();
  for await (const event of t.runtime.watch({}, { content: false, signal: stop.signal })) {
    expect(JSON.stringify(event)).not.toContain("canary");
    if (event.type === "run-ended") stop.abort();
  }
  await expect(
    run
      .watch({ content: "no" as never })
      [Symbol.asyncIterator]()
      .next(),
  ).rejects.toThrow(/content: must be/);
});

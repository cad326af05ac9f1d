/** What reaches the provider: everything it needs, and nothing of another's. Only where there is a wire to look at. */
import assert from "node:assert/strict";
import { callOne, collect, type ModelCheck, requestWith, said } from "./model-fixtures.ts";

const look = {
  name: "look",
  description: "Looks at a place",
  inputSchema: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
};

const called = said("assistant", {
  type: "tool-call",
  call: callOne,
  tool: "look",
  input: { kind: "json", value: { place: "attic-canary" } },
  alias: "alias-1",
});

export const requests: Record<string, ModelCheck> = {
  "instructions, messages and tools are sent": async (play) => {
    await using played = await play([{ text: "Hi." }]);
    await collect(played.model, requestWith({ instructions: "instructions-canary", tools: [look] }));
    expectSent(played.sent, ["instructions-canary", "Hello", '"look"', "Looks at a place", '"place"']);
  },

  "a call goes back with its result, paired": async (play) => {
    await using played = await play([{ text: "Hi." }]);
    const result = { kind: "value", value: { seen: "result-canary" } } as const;
    const answered = said("tool", { type: "tool-result", call: callOne, tool: "look", result });
    await collect(played.model, requestWith({ messages: [said("user", hello), called, answered], tools: [look] }));
    expectSent(played.sent, ["attic-canary", "result-canary"]);
    const alias = played.sent?.[0]?.split("alias-1") ?? [];
    assert.ok(!played.sent || alias.length === 3, "the call's name is there twice: with the call and with its result");
  },

  "an error of a tool is told to the model": async (play) => {
    await using played = await play([{ text: "Hi." }]);
    const result = { kind: "error", code: "tool-failed", message: "error-canary" } as const;
    const answered = said("tool", { type: "tool-result", call: callOne, tool: "look", result });
    await collect(played.model, requestWith({ messages: [said("user", hello), called, answered], tools: [look] }));
    expectSent(played.sent, ["error-canary"]);
  },

  "what another provider wanted back is not sent": async (play) => {
    await using played = await play([{ text: "Hi." }]);
    const metadata = { "some-other-provider": { token: "foreign-canary" } };
    const before = said(
      "assistant",
      { type: "reasoning", text: "thought", metadata },
      { type: "text", text: "text-canary", metadata },
    );
    await collect(played.model, requestWith({ messages: [said("user", hello), before, said("user", hello)] }));
    expectSent(played.sent, ["text-canary"]);
    assert.ok(!played.sent?.some((text) => text.includes("foreign-canary")));
  },

  "the longest answer is sent": async (play) => {
    await using played = await play([{ text: "Hi." }]);
    await collect(played.model, requestWith({ maxOutputTokens: 1234 }));
    expectSent(played.sent, ["1234"]);
  },

  "the same request is the same bytes": async (play) => {
    await using played = await play([{ text: "Hi." }]);
    const request = requestWith({ messages: [said("user", hello), called], tools: [look] });
    await collect(played.model, request);
    await collect(played.model, request);
    assert.equal(played.sent?.[0], played.sent?.[1]);
  },
};

const hello = { type: "text", text: "Hello" } as const;

function expectSent(sent: readonly string[] | undefined, canaries: readonly string[]): void {
  if (!sent) return;
  const [first = ""] = sent;
  for (const canary of canaries) assert.ok(first.includes(canary), `${canary} is not in ${first}`);
}

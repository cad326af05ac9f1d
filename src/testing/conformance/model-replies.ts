/** Replies that are whole: text, thoughts, calls, counts and why the model stopped. */
import assert from "node:assert/strict";
import type { FinishReason } from "../../domain/entry.ts";
import { callsIn, collect, finishIn, type ModelCheck, requestWith, textIn } from "./model-fixtures.ts";

const unusual = "Grüße, 日本語, 👩‍👩‍👧‍👦 and \u2028 data: [DONE]\n\n: x\r\nend";

export const replies: Record<string, ModelCheck> = {
  "a model describes itself": async (play) => {
    await using played = await play([{ text: "Hi." }]);
    const { provider, model } = played.model.description;
    assert.ok(provider.length > 0 && model.length > 0);
  },

  "text comes in order and whole, and one finish ends it": async (play) => {
    await using played = await play([{ text: "The quick brown fox.", pieces: 3 }]);
    const parts = await collect(played.model);
    assert.equal(textIn(parts), "The quick brown fox.");
    assert.equal(finishIn(parts).reason, "stop");
  },

  "characters of several bytes and text that looks like the protocol are text": async (play) => {
    await using played = await play([{ text: unusual, pieces: 1 }]);
    assert.equal(textIn(await collect(played.model)), unusual.toWellFormed());
  },

  "reasoning is told apart from text": async (play) => {
    await using played = await play([{ reasoning: "Let me think.", text: "Done." }]);
    const parts = await collect(played.model);
    assert.equal(textIn(parts, "reasoning-delta"), "Let me think.");
    assert.equal(textIn(parts), "Done.");
  },

  "a file that the model has made comes whole, after the text before it": async (play) => {
    const file = { mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" };
    await using played = await play([{ text: "Here it is.", files: [file] }]);
    const parts = (await collect(played.model)).filter(({ type }) => type !== "ping");
    const found = parts.findIndex(({ type }) => type === "file");
    const { mediaType, url } = parts[found] as typeof file;
    assert.deepEqual({ mediaType, url }, file);
    assert.equal(textIn(parts.slice(0, found)), "Here it is.");
    assert.equal(finishIn(parts).reason, "stop");
  },

  "calls come in their order, each with its tool and the raw input": async (play) => {
    const calls = [
      { tool: "look", inputText: '{"at": "sky"}' },
      { tool: "look", inputText: "{}" },
      { tool: "go", inputText: '{ "far" :true,  "to":["ü"] }' },
    ];
    await using played = await play([{ text: "Well.", calls }]);
    const parts = await collect(played.model, requestWith({ tools: [tool("look"), tool("go")] }));
    assert.deepEqual(
      callsIn(parts).map(({ tool, inputText }) => ({ tool, inputText })),
      calls,
    );
    assert.equal(finishIn(parts).reason, "tool-calls");
    for (const { alias } of callsIn(parts)) assert.equal(typeof alias, "string");
  },

  "input that is no JSON is passed on as it is": async (play) => {
    const calls = [{ tool: "look", inputText: '{"at": ' }];
    await using played = await play([{ calls }]);
    const [call] = callsIn(await collect(played.model, requestWith({ tools: [tool("look")] })));
    assert.equal(call?.inputText, '{"at": ');
  },

  "tokens are counted": async (play) => {
    await using played = await play([{ text: "Hi.", usage: { inputTokens: 120, outputTokens: 30 } }]);
    const { usage } = finishIn(await collect(played.model));
    assert.equal(usage?.inputTokens, 120);
    assert.equal(usage?.outputTokens, 30);
  },

  "what the cache gave and what was thought is counted, where it is said": async (play) => {
    const usage = { inputTokens: 120, outputTokens: 30, cacheReadTokens: 100, reasoningTokens: 20 };
    await using played = await play([{ text: "Hi.", usage }]);
    const counted = finishIn(await collect(played.model)).usage;
    assert.equal(counted?.cacheReadTokens, 100);
    assert.equal(counted?.reasoningTokens, 20);
  },

  "a count that is missing is missing, not 0": async (play) => {
    await using played = await play([{ text: "Hi.", usage: null }]);
    const parts = await collect(played.model);
    assert.equal(textIn(parts), "Hi.");
    assert.equal(finishIn(parts).usage, undefined);
  },

  "a reply that is cut, filtered or ended for an unknown reason says so": async (play) => {
    for (const finish of ["length", "content-filter", "other"] satisfies readonly FinishReason[]) {
      await using played = await play([{ text: "Half", finish }]);
      assert.equal(finishIn(await collect(played.model)).reason, finish);
    }
  },

  "an empty reply is a finish": async (play) => {
    await using played = await play([{}]);
    assert.equal(textIn(await collect(played.model)), "");
  },

  "calls at the same time do not mix": async (play) => {
    await using played = await play([{ text: "a".repeat(200) }]);
    const all = await Promise.all(Array.from({ length: 5 }, () => collect(played.model)));
    for (const parts of all) assert.equal(textIn(parts), "a".repeat(200));
  },
};

function tool(name: string): { name: string; description: string; inputSchema: { type: string } } {
  return { name, description: `Tool ${name}`, inputSchema: { type: "object" } };
}

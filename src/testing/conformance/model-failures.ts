/** Bad days: refusals, streams that are cut or fall silent, and callers that have heard enough. */
import assert from "node:assert/strict";
import type { ErrorCode, RetryClass } from "../../domain/errors.ts";
import { failureOf, type ModelCheck, requestWith, textIn } from "./model-fixtures.ts";

const classes: readonly (readonly [ErrorCode, RetryClass])[] = [
  ["model-unauthorized", "never"],
  ["model-not-found", "never"],
  ["model-refused", "never"],
  ["model-context-overflow", "never"],
  ["model-rate-limited", "later"],
  ["model-overloaded", "later"],
  ["model-failed", "later"],
];

export const failures: Record<string, ModelCheck> = {
  ...Object.fromEntries(
    classes.map(([code, retry]): [string, ModelCheck] => [
      `${code} is told by its name, and is tried again: ${retry}`,
      async (play) => {
        await using played = await play([{ fails: code }]);
        const { error, before } = await failureOf(played.model);
        assert.equal(error.code, code);
        assert.equal(error.retry, retry);
        assert.ok(!before.some(({ type }) => type === "finish"), "nothing looks finished");
        assert.ok(error.message.length > 0);
      },
    ]),
  ),

  "how long to wait is passed on": async (play) => {
    await using played = await play([{ fails: "model-rate-limited", retryAfterMs: 7_000 }]);
    const { error } = await failureOf(played.model);
    assert.equal(error.details.retryAfterMs, 7_000);
  },

  "no message shows the key": async (play) => {
    for (const [code] of classes) {
      await using played = await play([{ fails: code }]);
      const { error } = await failureOf(played.model);
      const written = JSON.stringify([error.message, error.details, String(error)]);
      assert.ok(!played.key || !written.includes(played.key), `${code} shows the key`);
    }
  },

  "a stream that is cut fails, and is tried again": async (play) => {
    await using played = await play([{ cutAfter: "Half of" }]);
    const { error, before } = await failureOf(played.model);
    assert.equal(error.retry, "later");
    assert.match(error.code, /^model-/);
    assert.ok("Half of".startsWith(textIn(before)));
    assert.ok(!before.some(({ type }) => type === "finish"), "nothing looks finished");
  },

  "a call that is aborted stops, whatever the provider does": async (play) => {
    await using played = await play([{ silentAfter: "Half of" }]);
    const controller = new AbortController();
    const heard: string[] = [];
    const listening = (async () => {
      for await (const part of played.model.call(requestWith(), controller.signal)) {
        heard.push(part.type);
        controller.abort();
      }
    })().catch(() => undefined);
    await listening;
    assert.ok(!heard.includes("finish"), "nothing looks finished");
  },

  "a signal that is aborted already makes no call": async (play) => {
    await using played = await play([{ text: "never" }]);
    const parts: string[] = [];
    try {
      for await (const { type } of played.model.call(requestWith(), AbortSignal.abort())) parts.push(type);
    } catch {
      assert.deepEqual(parts, []);
      return;
    }
    assert.fail("it answered all the same");
  },

  "whoever leaves early leaves nothing behind": async (play) => {
    await using played = await play([{ silentAfter: "Half of" }]);
    for await (const { type } of played.model.call(requestWith(), new AbortController().signal)) {
      if (type === "text-delta") break;
    }
  },
};

/** Every provider against the same checks: a script, and servers that speak several vendors' dialects. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { secret } from "../../src/domain/secret.ts";
import { openaiCompatible } from "../../src/openai.ts";
import type { Model } from "../../src/ports/provider.ts";
import { cassette } from "../../src/providers/cassette/cassette.ts";
import { pool } from "../../src/providers/pool/pool.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { modelConformance } from "../../src/testing/conformance/model-conformance.ts";
import type { PlayedAnswer, PlayedModel, PlayModel } from "../../src/testing/conformance/model-fixtures.ts";
import { type Dialect, dialects, playOf, wholeOf } from "../models/openai/dialects.ts";
import { openPlayServer, type Play } from "../models/openai/play-server.ts";
import { playScript } from "../models/play-script.ts";

const key = "sk-conformance-4f9d2c71";

function overHttp(toPlay: (answer: PlayedAnswer) => Play): PlayModel {
  return async (answers): Promise<PlayedModel> => {
    const server = await openPlayServer(answers.map(toPlay));
    const model = openaiCompatible({ baseURL: server.baseURL, model: "m", apiKey: secret(key) });
    return {
      model,
      key,
      get sent() {
        return server.sent.map(({ body }) => body);
      },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  };
}

const whole = (answer: PlayedAnswer): Play =>
  "fails" in answer || "cutAfter" in answer || "silentAfter" in answer
    ? playOf(answer, dialects["openai"] as Dialect, key)
    : wholeOf(answer);

const openai = overHttp((answer) => playOf(answer, dialects["openai"] as Dialect, key));

/** The same model, behind a wrapper of ours. */
function wrapped(play: PlayModel, wrap: (model: Model, answers: readonly PlayedAnswer[]) => Model): PlayModel {
  return async (answers) => {
    const played = await play(answers);
    const model = wrap(played.model, answers);
    const { sent } = Object.getOwnPropertyDescriptors(played);
    const close = (): PromiseLike<void> => played[Symbol.asyncDispose]();
    return Object.defineProperties({ model, key, [Symbol.asyncDispose]: close }, sent ? { sent } : {}) as PlayedModel;
  };
}

const folder = mkdtempSync(join(tmpdir(), "holdfast-conformance-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each call is recorded, then replayed. What falls silent would never be recorded whole: that one is recorded only. */
function replayed(model: Model, answers: readonly PlayedAnswer[]): Model {
  const fresh = (): string => join(mkdtempSync(join(folder, "tape-")), "tape.jsonl");
  if (answers.some((answer) => "silentAfter" in answer)) return cassette(model, { file: fresh(), mode: "record" });
  return {
    description: model.description,
    async *call(request, signal) {
      signal.throwIfAborted();
      const file = fresh();
      try {
        for await (const _part of cassette(model, { file, mode: "record" }).call(request, signal));
      } catch {
        // it is recorded, and comes again
      }
      expect(readFileSync(file, "utf8")).not.toContain(key);
      yield* cassette(model, { file, mode: "replay" }).call(request, signal);
    },
  };
}

const providers: Record<string, PlayModel> = {
  scripted: playScript(scripted),
  "a pool": wrapped(openai, (model) => pool([model])),
  "a cassette": wrapped(openai, replayed),
  "openai-compatible, a server that does not stream": overHttp(whole),
  ...Object.fromEntries(
    Object.entries(dialects).map(([name, dialect]) => [
      `openai-compatible, ${name}`,
      overHttp((answer) => playOf(answer, dialect, key)),
    ]),
  ),
};

for (const [name, play] of Object.entries(providers)) {
  describe(name, () => {
    for (const [fact, check] of Object.entries(modelConformance)) test(fact, () => check(play));
  });
}

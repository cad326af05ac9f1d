/** Every provider against the same checks: a script, and servers that speak several vendors' dialects. */
import { describe, test } from "vitest";
import { secret } from "../../src/domain/secret.ts";
import { openaiCompatible } from "../../src/openai.ts";
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

const providers: Record<string, PlayModel> = {
  scripted: playScript(scripted),
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

/** Thoughts on the wire: to the provider that had them as they came, to every other not a word. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, createRuntime, fromAiSdk, type Model, pool, tool } from "../../../src/index.ts";
import { openaiCompatible } from "../../../src/openai.ts";
import type { PlayedAnswer } from "../../../src/testing/conformance/model-fixtures.ts";
import { anthropicPlay, signature } from "../ai-sdk/anthropic-wire.ts";
import { encrypted, responsesPlay } from "../ai-sdk/responses-wire.ts";
import { type Dialect, dialects, playOf } from "../openai/dialects.ts";
import { openPlayServer, type Play, type PlayServer } from "../openai/play-server.ts";

const apiKey = "sk-wire-4f9d2c71";
const thought = "THOUGHT: two places.";

const look = tool({
  name: "look",
  description: "Looks",
  input: z.object({}),
  effect: "pure",
  execute: () => "seen-canary",
});

interface Thinker {
  readonly play: (answer: PlayedAnswer) => Play;
  readonly model: (baseURL: string) => Model;
  /** What goes back to it of a thought, in a body. */
  readonly goesBack: readonly string[];
}

/** As routers sign the thoughts of vendors behind them. */
const detail = { type: "reasoning.text", index: 0, text: "DETAIL", signature: "c2lnTURE" };
const details = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { reasoning_details: [detail] } }] })}\n\n`;

function chatPlay(answer: PlayedAnswer): Play {
  const play = playOf(answer, dialects.openai as Dialect, apiKey);
  return "reasoning" in answer ? { ...play, chunks: [details, ...play.chunks] } : play;
}

const compatible: Thinker = {
  play: chatPlay,
  model: (baseURL) => openaiCompatible({ baseURL, model: "m" }),
  goesBack: [`"reasoning_content":"${thought}"`, `"reasoning_details":[${JSON.stringify(detail)}]`],
};

const store = { providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } } };

const thinkers: Readonly<Record<string, Thinker>> = {
  "a server without a name": compatible,
  "another server without a name": compatible,
  "a server with a name": {
    ...compatible,
    model: (baseURL) => openaiCompatible({ baseURL, model: "m", name: "mine" }),
  },
  "@ai-sdk/anthropic": {
    play: (answer) => anthropicPlay(answer, apiKey),
    model: (baseURL) => fromAiSdk(createAnthropic({ baseURL, apiKey })("claude-sonnet-4-5")),
    goesBack: [`{"type":"thinking","thinking":"${thought}","signature":"${signature}"}`],
  },
  "@ai-sdk/openai, responses": {
    play: (answer) => responsesPlay(answer, apiKey),
    model: (baseURL) => fromAiSdk(createOpenAI({ baseURL, apiKey })("gpt-5"), { settings: store }),
    goesBack: [thought, `"encrypted_content":"${encrypted}"`],
  },
  "@ai-sdk/openai, chat completions": {
    play: chatPlay,
    model: (baseURL) => fromAiSdk(createOpenAI({ baseURL, apiKey }).chat("gpt-4o")),
    goesBack: [], // OpenAI's own have no thoughts in there
  },
};

const names = Object.keys(thinkers);
const pairs = names.flatMap((one) => names.filter((other) => other !== one).map((other) => [one, other] as const));

function serve(thinker: Thinker, ...answers: readonly PlayedAnswer[]): Promise<PlayServer> {
  return openPlayServer(answers.map(thinker.play));
}

test.each(pairs)("a pool goes from %s to %s: the thought goes back to the first only", async (one, other) => {
  const [first, second] = [thinkers[one] as Thinker, thinkers[other] as Thinker];
  const thinks = { reasoning: thought, text: "I look.", calls: [{ tool: "look", inputText: "{}" }] };
  await using down = await serve(first, thinks, { fails: "model-overloaded" });
  await using up = await serve(second, { text: "Done." });
  const model = pool([first.model(down.baseURL), { model: second.model(up.baseURL), failoverOnly: true }]);
  const helper = agent({ name: "helper", instructions: "", model, tools: [look] });
  await using runtime = await createRuntime({ agents: [helper] });
  expect(await runtime.run(helper, "Go.")).toMatchObject({ output: "Done." });
  const [back, elsewhere] = [down.sent[1]?.body ?? "", up.sent[0]?.body ?? ""];
  for (const part of first.goesBack) expect(back).toContain(part);
  for (const body of [back, elsewhere]) expect(body).toMatch(/I look\..*seen-canary/);
  expect(elsewhere).not.toMatch(/THOUGHT|DETAIL|c2lnTURE|SIGNATURE|ENCRYPTED/);
});

/** Records one call after another until it is killed. */
import type { ThreadId } from "../../src/domain/ids.ts";
import { cassette } from "../../src/providers/cassette/cassette.ts";
import { scripted } from "../../src/providers/scripted.ts";

const [, , file = ""] = process.argv;
const model = cassette(scripted([({ instructions }) => ({ text: `Answer to ${instructions}`, pieces: 3 })]), {
  file,
  mode: "record",
});

for (let count = 1; ; count += 1) {
  const instructions = `question ${count} ${"x".repeat(5_000)}`;
  const request = { agent: "a", thread: "t" as ThreadId, step: 1, attempt: 1, instructions, messages: [], tools: [] };
  for await (const _part of model.call(request, new AbortController().signal));
  process.stdout.write(`${count}\n`);
}

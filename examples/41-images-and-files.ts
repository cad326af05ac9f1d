// Images and files: given as bytes, shown by tools, made by models. Large ones are content; a model gets the bytes of those that it reads.
// expect: the model got 2 images and 1 file; it drew image/png, 4 bytes; a text model was not called: message has image
import { agent, asContent, createRuntime, type ModelRequest, tellModel, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const photo = new Uint8Array(300_000).fill(1);
const contract = new TextEncoder().encode("%PDF");
const drawing = "data:image/png;base64,iVBORw==";

// #region tool
const screenshot = tool({
  name: "screenshot",
  description: "A picture of the screen",
  input: z.object({}),
  effect: "pure",
  execute: () => tellModel({ width: 2, height: 2 }, ["The screen:", asContent(pixels(), { mediaType: "image/png" })]),
});
// #endregion tool

function pixels(): Uint8Array {
  return Uint8Array.from([137, 80, 78, 71]);
}

const seen = { images: 0, files: 0 };

/** A stand-in that counts what it was sent, so that this runs offline. */
function lookAt({ messages }: ModelRequest): { text: string; files: { mediaType: string; url: string }[] } {
  for (const part of messages.flatMap((message) => message.parts)) {
    if (part.type === "image") seen.images += 1;
    if (part.type === "file") seen.files += 1;
  }
  return { text: "Here is the same in colour.", files: [{ mediaType: "image/png", url: drawing }] };
}

const painter = agent({
  name: "painter",
  model: scripted([{ calls: [{ tool: "screenshot" }] }, lookAt], {
    description: { accepts: ["text", "image", "file"] }, // what it reads; without a word tools show it nothing
  }),
  instructions: "Draw.",
  tools: [screenshot],
});
const reader = agent({
  name: "reader",
  model: scripted(["…"], { description: { accepts: ["text"] } }),
  instructions: "Read.",
});

await using runtime = await createRuntime({ agents: [painter, reader] });

// #region start
await runtime.run(
  painter,
  [
    { type: "text", text: "What do these have in common?" },
    { type: "image", mediaType: "image/jpeg", body: photo }, // bytes
    { type: "file", mediaType: "application/pdf", name: "contract.pdf", body: contract },
  ],
  { thread: "t-1" },
);
// #endregion start

// #region made
const { items } = await runtime.threads.messages("t-1", { order: "newest", limit: 1 });
const made = items[0]?.message.parts.find((part) => part.type === "file");
if (!made || !("content" in made)) throw new Error("no drawing");
const { body } = await runtime.content.get(made.content);
// #endregion made

const refused = await runtime.run(reader, [{ type: "image", mediaType: "image/jpeg", body: photo }]);
const why = refused.outcome === "failed" ? refused.error.message : "";
const words = /message \S+ (has \w+)/.exec(why)?.[1] ?? why;
console.log(
  `the model got ${seen.images} images and ${seen.files} file; it drew ${made.mediaType}, ${body.length} bytes; a text model was not called: message ${words}`,
);

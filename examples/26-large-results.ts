// Results too large for the journal are content: the model reads their beginning, the program reads all of them, and they go when the last run that cites them is erased.
// expect: the model read 4 KB of 1.3 MB: 40000 rows, first {"day":0,"sold":0}; report.pdf is application/pdf, 4 bytes
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent, asContent, type ContentRef, createRuntime, fileContent, type Message, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
const path = join(folder, "runs.db");

// #region tools
const sales = tool({
  name: "sales",
  description: "Every sale of the year",
  input: z.object({}),
  effect: "pure",
  execute: () => Array.from({ length: 40_000 }, (_, day) => ({ day, sold: day * 1_000_003 })), // about 1.3 MB of JSON
});

const report = tool({
  name: "report",
  description: "Renders the report",
  input: z.object({}),
  effect: "pure",
  execute: () => asContent(renderPdf(), { mediaType: "application/pdf", say: "report.pdf is ready" }),
});
// #endregion tools

function renderPdf(): Uint8Array {
  return new TextEncoder().encode("%PDF");
}

const analyst = agent({
  name: "analyst",
  model: scripted([
    {
      calls: [
        { tool: "sales", input: {} },
        { tool: "report", input: {} },
      ],
    },
    "It was a good year.",
  ]),
  instructions: "Report on the year.",
  tools: [sales, report],
});

// #region runtime
await using runtime = await createRuntime({
  agents: [analyst],
  store: sqlite(path),
  content: fileContent(join(folder, "content")), // instead of in the store
});
// #endregion runtime
await runtime.run(analyst, "How was the year?", { thread: "t-1" });

function contentsOf(messages: readonly Message[]): readonly { readonly said: string; readonly ref: ContentRef }[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if (part.type !== "tool-result" || part.result.kind !== "value" || !part.result.content) return [];
      return [{ said: part.result.say ?? "", ref: part.result.content }];
    }),
  );
}

const { items } = await runtime.threads.messages("t-1");
const contents = contentsOf(items.map(({ message }) => message));
const all = contents.find(({ ref }) => ref.mediaType === "application/json");
const pdf = contents.find(({ ref }) => ref.mediaType === "application/pdf");
if (!all || !pdf) throw new Error("no content");

// #region read
const rows = (await runtime.content.get(all.ref)).json() as readonly unknown[];
// #endregion read
const file = await runtime.content.get(pdf.ref.hash);
const size = `${Math.round(all.said.length / 1_024)} KB of ${(all.ref.bytes / 1_000_000).toFixed(1)} MB`;
const first = JSON.stringify(rows[0]);
console.log(
  `the model read ${size}: ${rows.length} rows, first ${first}; report.pdf is ${file.mediaType}, ${file.body.length} bytes`,
);

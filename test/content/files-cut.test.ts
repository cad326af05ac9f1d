/** Cut at every port call: what was given, shown and made is there, byte for byte, and nothing refers to what is not. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, asContent, type ContentRef, type Message, type Runtime, tellModel, tool } from "../../src/index.ts";
import type { CrashScenario } from "../../src/testing/crash-scenario.ts";
import { crashEverywhere, scripted } from "../../src/testing.ts";

const bytes = (first: number): Uint8Array => new Uint8Array(3_000).fill(first);
const data = (body: Uint8Array): string => `data:image/png;base64,${Buffer.from(body).toString("base64")}`;

function refsIn(messages: readonly Message[]): readonly ContentRef[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      const shown = part.type === "tool-result" && part.result.kind === "value" ? (part.result.shown ?? []) : [part];
      return shown.flatMap((each) => ("content" in each ? [each.content] : []));
    }),
  );
}

async function firstBytes(runtime: Runtime): Promise<readonly (number | undefined)[]> {
  const { items } = await runtime.threads.messages("t", { order: "oldest" });
  const refs = refsIn(items.map(({ message }) => message));
  return await Promise.all(refs.map(async (ref) => (await runtime.content.get(ref)).body[0]));
}

const found: (readonly (number | undefined)[])[] = [];

const scenario: CrashScenario = {
  name: "files over crashes",
  settings: { limits: { inlineBytes: 100 } },
  agents: () => [
    agent({
      name: "painter",
      instructions: "",
      model: scripted(
        [{ calls: [{ tool: "look" }] }, { text: "Done.", files: [{ mediaType: "image/png", url: data(bytes(3)) }] }],
        {
          description: { accepts: ["text", "image"] },
        },
      ),
      tools: [
        tool({
          name: "look",
          description: "Looks",
          input: z.object({}),
          effect: "pure",
          execute: () => tellModel("ok", [asContent(bytes(2), { mediaType: "image/png" })]),
        }),
      ],
    }),
  ],
  script: async ({ runtime, agents: [painter] }) => {
    const input = [{ type: "image", mediaType: "image/png", body: bytes(1) }] as const;
    const run = await runtime.start(painter as never, input, { key: "start", thread: "t" });
    await run.result();
    found.push(await firstBytes(runtime));
  },
};

test("K1 K4 T5: cut anywhere, every file of the conversation can be read", async () => {
  const report = await crashEverywhere(scenario, { ways: ["before", "after"] });
  expect(report.failures).toEqual([]);
  expect(report.uncut.runs).toMatchObject([{ outcome: "completed" }]);
  expect(report.cuts).toBeGreaterThan(30);
  expect(found.length).toBeGreaterThan(30);
  expect(new Set(found.map(String))).toEqual(new Set(["1,2,3"]));
});

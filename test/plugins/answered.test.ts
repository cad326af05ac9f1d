/** What a tool answered is never lost, and never read by the model before plugins have let it through. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { Entry } from "../../src/domain/entry.ts";
import { defaultScope } from "../../src/domain/ids.ts";
import { readAfter } from "../../src/engine/load.ts";
import { agent, type ConfiguredPlugin, memory, plugin, tool } from "../../src/index.ts";
import type { Store, StoreDefinition } from "../../src/ports/store.ts";
import { scripted, testRuntime } from "../../src/testing.ts";

const look = tool({ name: "look", description: "Look", input: z.object({}), effect: "pure", execute: () => "secret" });

const hides = (answer: () => unknown): ConfiguredPlugin =>
  plugin({ name: "hides", create: () => ({ hooks: { "after-tool": () => answer() as never } }) })();

const looking = (...plugins: readonly ConfiguredPlugin[]) =>
  agent({
    name: "looking",
    model: scripted([{ calls: [{ tool: "look", input: {} }] }, "done"]),
    instructions: "Look.",
    tools: [look],
    plugins,
  });

async function journalOf(one: ReturnType<typeof looking>): Promise<readonly Entry[]> {
  const opened: Store[] = [];
  const definition = memory();
  const store: StoreDefinition = {
    ...definition,
    open: async (parts) => {
      const inner = await definition.open(parts);
      opened.push(inner);
      return inner;
    },
  };
  await using t = await testRuntime({ agents: [one], store });
  const run = await t.runtime.start(one, "go");
  await run.result();
  return readAfter({ scope: defaultScope, run: run.id }, 0, opened[0] as Store);
}

function settledAnswers(entries: readonly Entry[]): readonly unknown[] {
  return entries.flatMap((entry) => (entry.type === "effect-settled" && entry.answered ? [entry.answered] : []));
}

function readByModel(entries: readonly Entry[]): string {
  return JSON.stringify(entries.filter((entry) => entry.type === "message-appended"));
}

const rewritten = { type: "rewrite-result", value: "nothing to see" } as const;

test.each([
  ["at once", () => rewritten],
  ["later", async () => rewritten],
])(
  "a result that is rewritten %s is kept as the tool gave it, and the model reads the other",
  async (_when, answer) => {
    const entries = await journalOf(looking(hides(answer)));
    expect(settledAnswers(entries)).toEqual([{ kind: "value", value: "secret" }]);
    expect(readByModel(entries)).not.toContain("secret");
    expect(readByModel(entries)).toContain("nothing to see");
  },
);

test("a result that is let through at once is stored once", async () => {
  const entries = await journalOf(looking(hides(() => undefined)));
  expect(settledAnswers(entries)).toEqual([]);
  expect(JSON.stringify(entries).split("secret")).toHaveLength(2);
});

test("a result that waits for a plugin is not let through by a cancel", async () => {
  const never = hides(() => new Promise(() => undefined));
  const one = looking(never);
  const store = memory();
  await using t = await testRuntime({ agents: [one], store });
  const run = await t.runtime.start(one, "go");
  await t.settle();
  const { receipt } = await run.cancel();
  const over = receipt();
  await t.advance("10m");
  expect(await over).toMatchObject({ outcome: "cancelled" });
  const events: unknown[] = [];
  for await (const event of run.watch()) events.push(event);
  expect(JSON.stringify(events)).not.toContain("secret");
  expect(JSON.stringify(events)).toContain("before plugins had let its result through");
});

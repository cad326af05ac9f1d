/** Runs that nobody outside touches: no tool, each class of tool, several at once, several runs. */
import { acting, begin, calling, clerk, recalling, scenario } from "./pieces.ts";

export const plain = [
  scenario({
    name: "no tool",
    agents: () => [clerk({ answers: [{ text: "Hello there.", pieces: 6 }] })],
  }),
  scenario({
    name: "one tool",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), recalling("Refunded.")],
        tools: [acting(world, { name: "refund", effect: "idempotent" })],
      }),
    ],
    settings: { limits: { snapshotEvery: 1 } },
  }),
  scenario({
    name: "parallel tools",
    agents: (world) => [
      clerk({
        answers: [calling("look", "refund", "charge"), recalling("All three.")],
        tools: [
          acting(world, { name: "look", effect: "pure" }),
          acting(world, { name: "refund", effect: "idempotent" }),
          acting(world, { name: "charge", effect: "once" }),
        ],
      }),
    ],
  }),
  scenario({
    name: "pure",
    agents: (world) => [
      clerk({ answers: [calling("look"), "Seen."], tools: [acting(world, { name: "look", effect: "pure" })] }),
    ],
  }),
  scenario({
    name: "idempotent",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), calling("refund"), recalling("Twice, by two keys.")],
        tools: [acting(world, { name: "refund", effect: "idempotent" })],
      }),
    ],
  }),
  scenario({
    name: "a large result",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), recalling("Kept.")],
        tools: [acting(world, { name: "refund", effect: "idempotent", after: async () => "x".repeat(600) })],
      }),
    ],
    settings: { limits: { inlineBytes: 500, previewBytes: 20 } },
  }),
  scenario({
    name: "a reply that breaks off goes on",
    agents: () => [
      clerk({
        answers: [
          { attempts: [{ parts: [{ type: "text-delta", text: "Hello " }] }, { text: "Hello there.", pieces: 6 }] },
        ],
      }),
    ],
  }),
  scenario({
    name: "a reply that breaks off after a whole call",
    agents: (world) => [
      clerk({
        answers: [
          {
            parts: [
              { type: "text-delta", text: "At once." },
              { type: "tool-call", alias: "a", tool: "refund", inputText: '{"order":"1"}' },
              { type: "tool-input-delta", index: 1, tool: "refund", text: '{"or' },
            ],
          },
          recalling("Refunded."),
        ],
        tools: [acting(world, { name: "refund", effect: "idempotent" })],
      }),
    ],
  }),
  scenario({
    name: "a check that waits",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), recalling("Refunded.")],
        tools: [acting(world, { name: "refund", effect: "idempotent", needsApproval: async () => false })],
      }),
    ],
  }),
  scenario({
    name: "idempotent start",
    agents: () => [clerk({ answers: ["Once."] })],
    script: async (context) => {
      const [one, other] = await Promise.all([begin(context), begin(context)]);
      if (one.id !== other.id) throw new Error(`The same key started ${one.id} and ${other.id}`);
    },
  }),
  scenario({
    name: "queued runs",
    agents: () => [clerk({ answers: [recalling("Mine.")] })],
    script: async (context) => {
      await begin(context, "first");
      await begin(context, "second");
    },
  }),
];

/** Threads and runs that are forked, deleted and created with history. */
import type { MessageId } from "../../../src/domain/ids.ts";
import type { Message } from "../../../src/domain/message.ts";
import { type Agent, isHoldfastError } from "../../../src/index.ts";
import { acting, begin, calling, clerk, recalling, scenario } from "./pieces.ts";

function imported(id: string): Message {
  return { id: id as MessageId, role: "user", parts: [{ type: "text", text: id }], visibility: "all" };
}

/** The script begins again after a cut: what it finds done is done. */
async function unless(code: "thread-exists" | "thread-not-found", act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (cause) {
    if (!isHoldfastError(cause, code)) throw cause;
  }
}

export const keptThreads = [
  scenario({
    name: "forked at its first step",
    agents: (world) => [
      clerk({
        answers: [calling("refund"), recalling("Refunded.")],
        tools: [acting(world, { name: "refund", effect: "idempotent" })],
      }),
    ],
    script: async (context) => {
      const run = await begin(context);
      await run.result();
      await context.runtime.runs.fork(run.id, context.agents[0] as Agent<unknown>, { atStep: 1, key: "fork" });
    },
  }),
  scenario({
    name: "a thread deleted beside another",
    agents: () => [clerk({ answers: [recalling("Mine.")] })],
    script: async (context) => {
      const { runtime } = context;
      // The other run begins only when the doomed one has ended: where it is, the doomed one has been.
      if ((await runtime.runs.count({ thread: "kept" })) === 0) await (await begin(context, "doomed")).result();
      const kept = await runtime.start(context.agents[0] as Agent<unknown>, "Stay.", { key: "kept", thread: "kept" });
      await kept.result();
      await unless("thread-not-found", () => runtime.threads.delete("t"));
      if (await runtime.threads.get("t")) throw new Error("The thread is still there");
    },
  }),
  scenario({
    name: "a thread created with history",
    agents: () => [clerk({ answers: [recalling("Mine.")] })],
    script: async (context) => {
      const messages = [imported("Hello."), imported("Is anybody there?")];
      await unless("thread-exists", () => context.runtime.threads.create({ id: "t", messages }));
      await begin(context);
    },
  }),
];

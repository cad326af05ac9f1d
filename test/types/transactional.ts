/** Checked by tsc, never run: what `prepare` answers is what `apply` gets, and its result is the tool's. */
import { z } from "zod";
import { agent, type Runtime, type Tool, type ToolContext, tellModel } from "../../src/index.ts";
import { transactionalTool as onPostgres, type PostgresTransaction } from "../../src/postgres.ts";
import { transactionalTool as onSqlite, type SqliteTransaction } from "../../src/sqlite.ts";
import { scripted } from "../../src/testing.ts";
import { type Equal, holds } from "./equal.ts";

const input = z.object({ train: z.string(), seats: z.number().default(1) });
type Written = { train: string; seats?: number | undefined };
const named = { name: "book", description: "Books", input };

const prepared = onSqlite({
  ...named,
  prepare: async ({ train, seats }, context) => {
    holds<Equal<typeof seats, number>>();
    holds<Equal<typeof context, ToolContext>>();
    return { train, cents: seats * 100 };
  },
  apply: (tx, what, context) => {
    holds<Equal<typeof tx, SqliteTransaction>>();
    holds<Equal<typeof what, { train: string; cents: number }>>();
    holds<Equal<typeof context, ToolContext>>();
    // @ts-expect-error it is not the input
    what.seats;
    return { booked: what.train };
  },
});
holds<Equal<typeof prepared, Tool<Written, { booked: string }>>>();

const plain = onSqlite({
  ...named,
  apply: (tx, what) => {
    holds<Equal<typeof what, { train: string; seats: number }>>();
    return tx.run("DELETE FROM trains WHERE name = ?", what.train);
  },
});
holds<Equal<typeof plain, Tool<Written, number>>>();

const awaited = onPostgres({
  ...named,
  needsApproval: ({ seats }) => seats > 10,
  prepare: ({ train }) => train.length,
  apply: async (tx, length) => {
    holds<Equal<typeof tx, PostgresTransaction>>();
    holds<Equal<typeof length, number>>();
    const { rows } = await tx.query<{ free: number }>("SELECT free FROM trains");
    return tellModel({ free: rows[0]?.free ?? length }, "some are free");
  },
});
holds<Equal<typeof awaited, Tool<Written, { free: number }>>>();

// @ts-expect-error a transactional tool has no effect class of its own
onSqlite({ ...named, effect: "once", apply: () => 1 });
// @ts-expect-error nothing would be written
onSqlite({ ...named });

// They mix with others and need no cast.
const model = scripted(["Hi."]);
agent({ name: "clerk", model, instructions: "Book.", tools: [prepared, plain, awaited] });

export async function tickets(runtime: Runtime): Promise<void> {
  const [ticket] = await runtime.tickets.list({ tool: awaited, kind: "approval" });
  if (!ticket) return;
  holds<Equal<typeof ticket.input, Written>>();
  await ticket.edit({ train: "night" });
  await ticket.answer({ free: 3 });
  // @ts-expect-error the tool's result has another shape
  await ticket.answer("night");
}

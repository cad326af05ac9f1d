/** Runs with transactional calls for the crash kit, on either SQL store. */
import { z } from "zod";
import type { Agent, Tool, ToolContext } from "../../src/index.ts";
import { transactionalTool as postgresTool } from "../../src/postgres.ts";
import { transactionalTool as sqliteTool } from "../../src/sqlite.ts";
import type { CrashScenario, ScriptContext } from "../../src/testing/crash-scenario.ts";
import type { World } from "../../src/testing/crash-world.ts";
import { acting, answerAll, begin, calling, clerk, key, recalling } from "../crash/scenarios/pieces.ts";

interface Booking {
  readonly name: string;
  readonly needsApproval?: boolean;
}

/** Makes the tool of one store; each call of it adds one row. */
export type Booker = (booking: Booking) => Tool;

const input = z.object({ order: z.string() });
const prepare = async ({ order }: { readonly order: string }): Promise<string> => `prepared ${order}`;

/** In which play a row is written: call ids are the same in every play. */
export interface Play {
  scope: string;
}

/** Without a key: a second row of a call would be seen. */
export const bookings = "bookings (scope text, call text, what text)";

export function bookerOnSqlite(play: Play): Booker {
  return (booking) =>
    sqliteTool({
      ...{ ...booking, description: booking.name, input, prepare },
      apply: (tx, what, { callId }) => {
        tx.run("INSERT INTO bookings VALUES (?, ?, ?)", play.scope, callId, what);
        return { booked: what };
      },
    });
}

export function bookerOnPostgres(play: Play, names: { readonly table: string }): Booker {
  return (booking) =>
    postgresTool({
      ...{ ...booking, description: booking.name, input, prepare },
      apply: async (tx, what: string, { callId }: ToolContext) => {
        await tx.query(`INSERT INTO ${names.table} VALUES ($1, $2, $3)`, [play.scope, callId, what]);
        return { booked: what };
      },
    });
}

function saying(agents: (world: World) => readonly Agent[]): Pick<CrashScenario, "agents" | "script"> {
  return {
    agents,
    script: async (context: ScriptContext) => {
      const run = await begin(context);
      await answerAll(run, (ticket) => (ticket.kind === "approval" ? ticket.approve(key(ticket)) : undefined));
    },
  };
}

export function crashScenarios(book: Booker): readonly CrashScenario[] {
  return [
    {
      name: "two transactional calls at once",
      ...saying(() => [
        clerk({ answers: [calling("book", "book"), recalling("Booked.")], tools: [book({ name: "book" })] }),
      ]),
    },
    {
      name: "a transactional call that is approved",
      ...saying(() => [
        clerk({
          answers: [calling("book"), recalling("Booked.")],
          tools: [book({ name: "book", needsApproval: true })],
        }),
      ]),
    },
    {
      name: "transactional, once and pure calls at once",
      settings: { limits: { snapshotEvery: 2 } },
      ...saying((world) => [
        clerk({
          answers: [calling("book", "mail", "look", "book"), recalling("Booked.")],
          tools: [
            book({ name: "book" }),
            acting(world, { name: "mail", effect: "once", reconciles: true }),
            acting(world, { name: "look", effect: "pure" }),
          ],
        }),
      ]),
    },
  ];
}

/**
 * A worker process that books: argv is the store's URL or file, the schema or "-", how to die, and after which call.
 * It says "ready", starts the runs that its argument names, and works until there is nothing left.
 *
 * Ways to die: "apply" inside apply, "commit" after COMMIT and before its answer is used, "never".
 */
import { z } from "zod";
import { agent, createRuntime, type Tool } from "../../../src/index.ts";
import { transactionalTool as postgresTool } from "../../../src/postgres.ts";
import { transactionalTool as sqliteTool } from "../../../src/sqlite.ts";
import { postgresWithProbe } from "../../../src/stores/postgres/postgres.ts";
import { sqliteWithProbe } from "../../../src/stores/sqlite/sqlite.ts";
import { scripted } from "../../../src/testing.ts";

const [where = "", schema = "-", way = "never", after = "0", prefix = "run", count = "1"] = process.argv.slice(2);
const isPostgres = schema !== "-";
const input = z.object({ n: z.number() });
let applied = 0;
let isDoomed = false;

/** The call at which it dies has begun. */
function dying(): void {
  applied += 1;
  isDoomed = applied > Number(after);
  if (isDoomed && way === "apply") die();
}

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

/** Seen by the store's connection: the server has answered, nobody else knows yet. */
const probe = {
  after: (sql: string) => {
    if (sql === "COMMIT" && isDoomed && way === "commit") die();
  },
};

const shared = { name: "book", description: "Books", input };
const book: Tool = isPostgres
  ? postgresTool({
      ...shared,
      apply: async (tx, { n }, { callId }) => {
        await tx.query(`INSERT INTO ${schema}.bookings VALUES ($1, $2)`, [callId, n]);
        dying();
        return { booked: n };
      },
    })
  : sqliteTool({
      ...shared,
      prepare: async ({ n }) => n,
      apply: (tx, n, { callId }) => {
        tx.run("INSERT INTO bookings VALUES (?, ?)", callId, n);
        dying();
        return { booked: n };
      },
    });

const calls = [1, 2, 3].map((n) => ({ tool: "book", input: { n } }));
const clerk = agent({ name: "clerk", instructions: "Book.", tools: [book], model: scripted([{ calls }, "Done."]) });
const connections = isPostgres ? 4 : 0;
const store = isPostgres
  ? postgresWithProbe({ url: where, schema, connections }, probe)
  : sqliteWithProbe(where, probe, { durability: "normal" });
const troubles: string[] = [];
const logger = { warn: (message: string) => void troubles.push(message), note: () => undefined };
// Runs that die again and again without getting anywhere are put aside: whoever dies has only a few in hand.
const concurrency = way === "never" ? 256 : 2;
const runtime = await createRuntime({ agents: [clerk], store, leaseMs: 400, pollMs: 50, logger, concurrency });
console.log("ready");
const runs = await Promise.all(
  Array.from({ length: Number(count) }, (_, n) => runtime.start(clerk, "Book.", { key: `${prefix}-${n}` })),
);
const results = await Promise.all(runs.map((run) => run.result()));
const { largestGroupSize, meanGroupSize } = await runtime.metrics();
const outcomes = results.map(({ outcome }) => outcome);
console.log(JSON.stringify({ outcomes, troubles, largestGroupSize, meanGroupSize }));
await runtime.close();

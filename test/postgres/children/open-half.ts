/** Opens a new schema and stops for ever in the middle of the migration; says when. */
import { nodeClock } from "../../../src/platform/node-clock.ts";
import { postgresWithProbe } from "../../../src/stores/postgres/postgres.ts";

const [url = "", schema = ""] = process.argv.slice(2);

async function before(sql: string): Promise<void> {
  if (!sql.startsWith("INSERT INTO hf.migrations")) return;
  process.stdout.write("half\n");
  await new Promise((resolve) => setTimeout(resolve, 600_000));
}

await postgresWithProbe({ url, schema }, { before }).open({
  clock: nodeClock,
  logger: { warn: () => undefined, note: () => undefined },
});

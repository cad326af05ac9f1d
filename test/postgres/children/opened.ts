/** What every child process does first: open the store it was told of, and wait for the word to begin. */
import { nodeClock } from "../../../src/platform/node-clock.ts";
import type { Store } from "../../../src/ports/store.ts";
import { postgresStore } from "../../../src/stores/postgres/postgres.ts";

export const [url = "", schema = "", name = ""] = process.argv.slice(2);

export async function ready(): Promise<Store> {
  const store = await postgresStore({ url, schema, connections: 5 }).open({
    clock: nodeClock,
    logger: { warn: () => undefined, note: () => undefined },
  });
  process.stdout.write("ready\n");
  await new Promise((resolve) => process.stdin.once("data", resolve));
  return store;
}

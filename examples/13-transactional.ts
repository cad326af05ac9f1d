// A tool that writes into the store's own database. The process is killed inside it; the booking is there once.
// expect: 1 booking, 40 seats left; the run says: Booked.
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { agent, createRuntime, ToolFailure } from "holdfast";
import { sqlite, transactionalTool } from "holdfast/sqlite";
import { scripted } from "holdfast/testing";
import { z } from "zod";

const isVictim = process.argv[2] !== undefined;
const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "holdfast-transactional-"));
const file = join(folder, "runs.db");

// #region tool
const bookSeats = transactionalTool({
  name: "book-seats",
  description: "Book seats on a train",
  input: z.object({ train: z.string(), seats: z.number().int().positive() }),
  // Before the transaction: whatever has to be awaited. It may run again, so it only reads.
  prepare: async ({ train, seats }) => ({ train, seats, cents: seats * (await priceOf(train)) }),
  // In the transaction that settles the call. Both are kept, or neither.
  apply: (tx, { train, seats, cents }, { callId }) => {
    const taken = "UPDATE trains SET free = free - ? WHERE name = ? AND free >= ?";
    if (tx.run(taken, seats, train, seats) === 0) throw new ToolFailure("not enough seats"); // undone
    tx.run("INSERT INTO bookings (call, train, seats, cents) VALUES (?, ?, ?, ?)", callId, train, seats, cents);
    if (isVictim) process.kill(process.pid, "SIGKILL");
    return { booked: seats, cents };
  },
});
// #endregion tool

async function priceOf(train: string): Promise<number> {
  return train === "night" ? 4_900 : 2_900;
}

const clerk = agent({
  name: "clerk",
  model: scripted([{ calls: [{ tool: "book-seats", input: { train: "night", seats: 2 } }] }, "Booked."]),
  instructions: "Book seats.",
  tools: [bookSeats],
});

if (!isVictim) spawnSync(process.execPath, [...process.execArgv, import.meta.filename, folder], { stdio: "inherit" });

await using runtime = await createRuntime({ agents: [clerk], store: sqlite(file), leaseMs: 300 });

// #region tables
const tables = new DatabaseSync(file); // the store has made the file; tables of your own come beside its tables
tables.exec(`CREATE TABLE IF NOT EXISTS trains (name TEXT PRIMARY KEY, free INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS bookings (call TEXT PRIMARY KEY, train TEXT, seats INTEGER, cents INTEGER);
  INSERT OR IGNORE INTO trains VALUES ('night', 42)`);
// #endregion tables

const said = await (await runtime.start(clerk, "Two seats on the night train", { key: "booking-1" })).output();

const { bookings } = tables.prepare("SELECT count(*) AS bookings FROM bookings").get() as { bookings: number };
const { free } = tables.prepare("SELECT free FROM trains").get() as { free: number };
console.log(`${bookings} booking, ${free} seats left; the run says: ${said}`);

import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { isHoldfastError } from "../../src/domain/errors.ts";
import { readTape } from "../../src/providers/cassette/tape.ts";
import { freshFolder } from "./fixtures.ts";

const at = freshFolder();
const script = resolve(import.meta.dirname, "recorder-process.ts");

/** Kills it after so many calls; answers how many it said were done. */
async function recordAndKill(file: string, calls: number): Promise<number> {
  const child = spawn(process.execPath, ["--conditions=holdfast-source", script, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  let done = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    done = Number(line);
    if (done === calls) child.kill("SIGKILL");
  }
  await gone;
  return done;
}

test("T1: a recorder that is killed leaves every call whole that it said was done, or a file that is refused", async () => {
  let usable = 0;
  for (let time = 0; time < 6; time += 1) {
    const file = at(`killed-${time}.jsonl`);
    const done = await recordAndKill(file, 5 + time * 7);
    try {
      const calls = readTape(file);
      usable += 1;
      expect(calls.length).toBeGreaterThanOrEqual(done);
      for (const { request, reply, end } of calls) {
        const text = reply.map((part) => (part.type === "text-delta" ? part.text : "")).join("");
        expect([text, end.kind]).toEqual([`Answer to ${request.instructions}`, "done"]);
      }
    } catch (cause) {
      // Killed between the two writes of one call: found out, and never half of it.
      expect(isHoldfastError(cause, "cassette-unusable"), String(cause)).toBe(true);
    }
  }
  expect(usable, "between two calls nothing is missing").toBeGreaterThan(0);
});

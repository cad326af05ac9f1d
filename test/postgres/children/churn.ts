/**
 * Queues, interrupts, cancels, ends and promotes runs on a few threads for a while, many calls at once, so that groups of
 * several processes want the same rows. Says how many calls were answered how.
 */
import { isHoldfastError } from "../../../src/domain/errors.ts";
import type { Claim, Store } from "../../../src/ports/store.ts";
import { createDraw } from "../../../src/testing/conformance/store-commands.ts";
import { birthOf, cancelOf, ended, inputTo, scopeA, started } from "../../../src/testing/conformance/store-fixtures.ts";
import { name, ready } from "./opened.ts";

const store = await ready();
const until = Date.now() + Number(process.env.CHURN_MS ?? 10_000);
const draw = createDraw([...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7));
const counts: Record<string, number> = {};

async function counted(kind: string, act: () => Promise<unknown>): Promise<void> {
  let result = kind;
  try {
    await act();
  } catch (cause) {
    result = `${kind} threw ${isHoldfastError(cause) ? cause.code : String(cause)}`;
  }
  counts[result] = (counts[result] ?? 0) + 1;
}

async function birth(from: Store, n: number): Promise<void> {
  const run = `${name}-${n}`;
  const whenBusy = (["queue", "queue", "interrupt", "supersede", "reject"] as const)[draw(5)]!;
  await from.create({ ...birthOf(run, { thread: `t${draw(4)}` }), whenBusy });
}

async function work(from: Store, claim: Claim): Promise<void> {
  const entries = await from.readRun({ ...claim, after: 0, limit: 1_000 });
  const expectedSeq = entries.at(-1)?.seq ?? 0;
  const { scope, run, epoch, threadPosition: position } = claim;
  const bodies = entries.length === 1 ? [started(position), ended] : [ended];
  await from.commit({ scope, run, epoch, expectedSeq, entries: bodies, position });
}

for (let round = 0; Date.now() < until; round += 1) {
  const births = Array.from({ length: 1 + draw(6) }, (_, n) => counted("birth", () => birth(store, round * 10 + n)));
  // Runs of all processes, in no order: without one, groups would wait for each other in a circle.
  const known = await store.runs({ scope: scopeA, order: "newest", limit: 12 });
  const posts = Array.from({ length: draw(12) }, (_, n) => {
    const { run } = known[draw(known.length)] ?? { run: "none" };
    const post = draw(6) === 0 ? cancelOf(run) : inputTo(run, `${name}-${round}-${n}`);
    return counted("post", () => store.post(post));
  });
  const claims = store.claim({
    scope: scopeA,
    agents: ["ann"],
    limit: 1 + draw(8),
    leaseMs: 300,
    claimId: `${name}-${round}`,
  });
  const ends = claims.then((held) => Promise.all(held.map((claim) => counted("end", () => work(store, claim)))));
  await Promise.all([...births, ...posts, counted("claim", () => claims), ends.catch(() => undefined)]);
}
process.stdout.write(`${JSON.stringify(counts)}\n`);
await store.close();
process.exit(0);

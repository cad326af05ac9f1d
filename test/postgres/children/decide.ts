/** 25 answers to one ticket at once; says how each was taken, and which settlement counted. */
import { decisionOn, ticketOf } from "../../../src/testing/conformance/store-fixtures.ts";
import { name, ready } from "./opened.ts";

const store = await ready();
const ticket = ticketOf("r1", 1);
const answers = await Promise.all(Array.from({ length: 25 }, (_, n) => store.post(decisionOn(ticket, `${name}-${n}`))));
for (const answer of answers) {
  const settlement = "settlement" in answer ? answer.settlement : undefined;
  process.stdout.write(`${answer.kind} ${settlement?.key} ${settlement?.seq}\n`);
}
await store.close();
process.exit(0);

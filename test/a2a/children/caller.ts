/** Begins a turn and says so on standard output; the test kills it. URL, MESSAGE, TEXT. */
import { backendAt, turnOf } from "../turn.ts";

const { URL: url = "", MESSAGE = "", TEXT = "" } = process.env;
const asked = turnOf(MESSAGE, TEXT, {
  onTask: async ({ task }) => void process.stdout.write(`${task}\n`),
});
const result = await backendAt(url).executeRoot(asked);
process.stdout.write(`${result.status.kind}\n`);

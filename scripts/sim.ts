/**
 * Runs seeded schedules of the simulator.
 *
 *   npm run sim                                    2,000 schedules from seed 1
 *   npm run sim -- --schedules 100000 --from 5000  a longer campaign elsewhere
 *   npm run sim -- --seed 42 --verbose             schedule 42 again, with its whole trace
 *   npm run sim -- --watch --schedules 10000       schedules about watching: spectators, busy threads
 *   npm run sim -- --plugins --schedules 10000     schedules about plugins: hooks at once and later, twins of one agent
 */
import { parseArgs } from "node:util";
import { runCampaign, showBroken } from "../src/testing/sim/campaign.ts";

const progressEveryMs = 5_000;

const { values } = parseArgs({
  options: {
    schedules: { type: "string" },
    seed: { type: "string" },
    from: { type: "string" },
    watch: { type: "boolean", default: false },
    plugins: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

const first = wholeNumber("seed", values.seed ?? values.from ?? "1");
const count = wholeNumber("schedules", values.schedules ?? (values.seed === undefined ? "2000" : "1"));

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  console.error(`--${name} must be a whole number, not ${JSON.stringify(text)}`);
  process.exit(2);
}

const started = performance.now();
let told = started;
const result = await runCampaign({
  first,
  count,
  options: { watching: values.watch, plugins: values.plugins },
  onSchedule(report, done) {
    if (values.verbose && count === 1) for (const line of report.trace()) console.log(line);
    if (performance.now() - told < progressEveryMs) return;
    told = performance.now();
    console.log(`${done} of ${count} schedules, ${Math.round((done / (told - started)) * 1_000)} per second`);
  },
});
const seconds = (performance.now() - started) / 1_000;
if (values.verbose) console.log(result.seen);
if (result.broken) console.log(showBroken(result.broken));
console.log(
  `${result.schedules} schedules, ${result.broken?.violations.length ?? 0} violations, ${result.steps} events, ` +
    `${Math.round(result.schedules / seconds)} per second`,
);
process.exitCode = result.broken ? 1 : 0;

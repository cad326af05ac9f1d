/** Many schedules, one after the other; stops at the first that breaks something. */
import { type SimOptions, type SimReport, simulate } from "./simulate.ts";

export interface Campaign {
  readonly first: number;
  readonly count: number;
  readonly options?: SimOptions;
  /** Asked after every schedule: whether that is all there is time for. */
  readonly enough?: (done: number) => boolean;
  /** After every schedule. */
  readonly onSchedule?: (report: SimReport, done: number) => void;
}

export interface CampaignReport {
  readonly schedules: number;
  readonly steps: number;
  readonly seen: Readonly<Record<string, number>>;
  /** The first schedule with a violation. */
  readonly broken?: SimReport;
}

export async function runCampaign({
  first,
  count,
  options = {},
  enough,
  onSchedule,
}: Campaign): Promise<CampaignReport> {
  const seen: Record<string, number> = {};
  let steps = 0;
  for (let done = 1; done <= count; done += 1) {
    const report = await simulate(first + done - 1, options);
    await breath();
    steps += report.steps;
    for (const [name, times] of Object.entries(report.seen)) seen[name] = (seen[name] ?? 0) + times;
    onSchedule?.(report, done);
    if (report.violations.length > 0) return { schedules: done, steps, seen, broken: report };
    if (enough?.(done)) return { schedules: done, steps, seen };
  }
  return { schedules: count, steps, seen };
}

/** A schedule never lets the event loop turn; whoever runs many of them needs it to. */
function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const shownLines = 40;

/** What a person needs to see a violation again. */
export function showBroken(report: SimReport): string {
  const { seed, violations } = report;
  const trace = report.trace();
  return [
    `seed ${seed} breaks at step ${violations[0]?.step}:`,
    ...violations.map(({ check, detail }) => `  ${check}: ${detail}`),
    `the last of ${trace.length} steps:`,
    ...trace.slice(-shownLines),
    `again: npm run sim -- ${report.watching ? "--watch " : ""}${report.plugins ? "--plugins " : ""}--seed ${seed} --verbose`,
  ].join("\n");
}

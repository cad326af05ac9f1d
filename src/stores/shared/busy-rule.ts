/** What a birth does to a thread that has an active run: one pure answer for every store. */
import type { CancelRequested } from "../../domain/entry.ts";
import type { RunStatus } from "../../domain/run.ts";
import type { Birth, BusyRule } from "../../ports/birth.ts";

/** The birth writes nothing and answers `busy`. */
export function isRefused(rule: BusyRule | undefined, active: RunStatus): boolean {
  return rule === "reject" || (rule === "queue-unless-waiting" && active === "waiting");
}

/** What the active run is asked, when the new run takes its thread. */
export function takeover({ whenBusy, by = "anonymous" }: Birth): CancelRequested | undefined {
  if (whenBusy === "interrupt") return { type: "cancel-requested", by, instead: "interrupted" };
  if (whenBusy === "supersede") return { type: "cancel-requested", by, instead: "superseded" };
  return undefined;
}

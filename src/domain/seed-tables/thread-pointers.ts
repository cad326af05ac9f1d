/**
 * XA-13: the runs a thread points at after a run was written. `active` is derived from the status: with us a
 * run keeps its place on the thread while it waits, and what executes is what is running.
 */
import type { RunId } from "../ids.ts";
import type { RunStatus } from "../run.ts";

export interface ThreadPointers {
  readonly latest?: RunId;
  readonly active?: RunId;
  readonly open?: RunId;
}

export interface WrittenRun {
  readonly run: RunId;
  readonly status: RunStatus;
}

export function pointersAfter(before: ThreadPointers, { run, status }: WrittenRun): ThreadPointers {
  switch (status) {
    case "created":
    case "waiting":
      return { latest: run, open: run };
    case "running":
      return { latest: run, active: run, open: run };
    case "done": {
      const { active, open } = before;
      return {
        latest: run,
        ...(active === undefined || active === run ? {} : { active }),
        ...(open === undefined || open === run ? {} : { open }),
      };
    }
    default:
      return status satisfies never;
  }
}

/** Named places where a process can be made to stand still, so that it is killed or frozen exactly there. */
import { flushCompileCache } from "node:module";

export const workerPoints = [
  "after-claim",
  "before-commit",
  "after-commit",
  "after-intent",
  "after-effect",
  "in-reconcile",
  "before-renew",
  "after-renew",
] as const;

export const clientPoints = ["before-post", "after-post", "before-create", "after-create"] as const;

export type Failpoint = (typeof workerPoints)[number] | (typeof clientPoints)[number];

/** From the campaign to a process. */
export type Order =
  | { readonly order: "stand"; readonly at: Failpoint; readonly skip: number }
  /** Out of the place where it stands, and to none. */
  | { readonly order: "go" }
  | { readonly order: "drain" };

/** From a process to the campaign. */
export type News = { readonly kind: "ready" | "ended" } | { readonly kind: "stands"; readonly at: Failpoint };

export interface Failpoints {
  /** Goes on at once, unless told to stand here. */
  reach(point: string): Promise<void>;
}

export function createFailpoints(): Failpoints {
  let armed: { at: Failpoint; skip: number } | undefined;
  let release: (() => void) | undefined;
  process.on("message", (message: Order) => {
    if (message.order === "stand") armed = { at: message.at, skip: message.skip };
    if (message.order !== "go") return;
    armed = undefined;
    release?.();
  });
  return {
    async reach(point) {
      if (armed?.at !== point) return;
      if (armed.skip > 0) {
        armed.skip -= 1;
        return;
      }
      armed = undefined;
      const standing = new Promise<void>((go) => {
        release = go;
      });
      tell({ kind: "stands", at: point as Failpoint });
      await standing;
    },
  };
}

/** Up and working. What was compiled is kept for those who come after: a process that is killed keeps nothing by itself. */
export function tellReady(): void {
  flushCompileCache();
  tell({ kind: "ready" });
}

export function tell(news: News): void {
  process.send?.(news);
}

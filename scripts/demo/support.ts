/** The agent of the demo: one `once` tool, whose code says over IPC where it is and can stand still there to be killed. */
import { agent, type Reconciled, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";
import type { WorkerNews } from "./news.ts";

const paymentsUrl = process.env.DEMO_PAYMENTS ?? "";
const standAt = process.env.DEMO_STAND_AT ?? "nowhere";
const dropsKey = process.env.DEMO_SABOTAGE === "1";

interface Receipt {
  readonly receipt: string;
}

const refund = tool({
  name: "refund",
  description: "Refund an order",
  input: z.object({ order: z.string(), cents: z.number().int().positive() }),
  effect: "once",
  needsApproval: true,
  timeoutMs: 3_000,
  async execute({ order, cents }, { idempotencyKey, signal }) {
    await pass("before-send");
    const key = dropsKey ? "" : idempotencyKey;
    const request = { method: "POST", body: JSON.stringify({ key, order, cents }), signal };
    const made = (await (await fetch(`${paymentsUrl}/refunds`, request)).json()) as Receipt;
    await pass("after-effect", made.receipt);
    return made;
  },
  /** Asked after a crash: has the call with this key taken effect? A read, at the only place that knows. */
  async reconcile(key): Promise<Reconciled> {
    const found = await fetch(`${paymentsUrl}/refunds?key=${encodeURIComponent(key)}`);
    if (found.status === 404) {
      tell({ at: "not-found" });
      return { status: "not-done" };
    }
    const made = (await found.json()) as Receipt;
    tell({ at: "found", receipt: made.receipt });
    return { status: "done", result: made };
  },
});

export const support = agent({
  name: "support",
  model: scripted([{ calls: [{ tool: "refund", input: { order: "42", cents: 8_000 } }] }, "Order 42 is refunded."]),
  instructions: "Resolve refund requests.",
  tools: [refund],
});

/** Says that it has come this far; at the named place it stands still until the process is killed. */
async function pass(place: "before-send" | "after-effect", receipt?: string): Promise<void> {
  if (place !== standAt) return;
  tell({ at: place, ...(receipt === undefined ? {} : { receipt }) });
  await new Promise<never>(() => undefined);
}

function tell(news: WorkerNews): void {
  process.send?.(news);
}

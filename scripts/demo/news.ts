/** What the processes of the demo tell the one that started them. */
export type WorkerNews =
  | { readonly at: "ready" }
  | { readonly at: "before-send" }
  | { readonly at: "after-effect" | "found"; readonly receipt?: string }
  | { readonly at: "not-found" };

export interface PaymentsNews {
  readonly url: string;
}

export type CallersNews =
  | { readonly ready: true }
  | { readonly ready: false; readonly answers: readonly { readonly by: string; readonly mine: boolean }[] };

/** What a caller was told is durable; the checker holds the store to it. */
export type Acknowledged =
  | { readonly kind: "start"; readonly run: string }
  | { readonly kind: "decision"; readonly run: string; readonly ticket: string; readonly by: string };

/** One line of the payments log. Only a request that made a refund has a receipt. */
export interface PaymentRequest {
  readonly method: string;
  readonly key: string;
  readonly order?: string;
  readonly cents?: number;
  readonly receipt?: string;
}

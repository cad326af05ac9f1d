/**
 * A payment provider as a process of its own. It logs every request and does what it is told each time: a refund that
 * is sent twice is made twice. It can be asked whether it has made the refund with some key.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { noteDurably } from "../processes/notes.ts";
import { paymentsLog } from "./files.ts";
import type { PaymentRequest, PaymentsNews } from "./news.ts";

const log = paymentsLog(process.argv[2] ?? ".");
const receipts = new Map<string, string>();
let made = 0;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "GET", url = "/" } = request;
  if (method === "POST") return send(response, 201, refund(JSON.parse(await text(request)) as PaymentRequest));
  const key = new URL(url, "http://localhost").searchParams.get("key") ?? "";
  noteDurably(log, { method, key } satisfies PaymentRequest);
  const receipt = receipts.get(key);
  return receipt === undefined ? send(response, 404, {}) : send(response, 200, { receipt });
}

function refund({ key, order = "", cents = 0 }: PaymentRequest): { readonly receipt: string } {
  made += 1;
  const receipt = `receipt-${made}`;
  if (key !== "") receipts.set(key, receipt);
  noteDurably(log, { method: "POST", key, order, cents, receipt } satisfies PaymentRequest);
  return { receipt };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  // One connection per request: one that is kept may be closed here just as it is used again there.
  const headers = { "content-type": "application/json", connection: "close" };
  response.writeHead(status, headers).end(JSON.stringify(body));
}

const server = createServer((request, response) => {
  answer(request, response).catch((cause: unknown) => send(response, 500, { problem: String(cause) }));
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  process.send?.({ url: `http://127.0.0.1:${port}` } satisfies PaymentsNews);
});
process.once("disconnect", () => process.exit());

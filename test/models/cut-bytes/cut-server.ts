/**
 * A real HTTP server whose first answer to each run is cut after so many bytes, in some way. Every further request is
 * answered by a good model: it goes on with its text, and calls what has no result yet.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { PlayedReply } from "../../../src/testing/conformance/model-fixtures.ts";

export interface Way {
  /** What else is written where the stream is cut. */
  readonly more?: string;
  readonly after: "end" | "reset" | "hang";
}

/** How a vendor writes replies, and where it finds in a request what a model would see. */
export interface Wire {
  readonly events: (reply: PlayedReply) => readonly string[];
  readonly seen: (body: string) => Seen;
}

export interface Seen {
  /** What the user said: the name of the cut. */
  readonly asked: string;
  readonly results: number;
  /** What it had said when it was asked to go on. */
  readonly said?: string;
}

/** One of its characters is told in two halves. */
export const said = "I will do it: größe 🎉 and 日本, 🎈 all three.";
export const wanted = ["a", "b", "c"].map((letter) => ({ letter, note: `{"é": "}"} ${letter}` }));

const calls = wanted.map((input) => ({ tool: "act", inputText: JSON.stringify(input) }));
export const firstReply: PlayedReply = { text: said, calls, pieces: 16 };

export interface Cut {
  readonly at: number;
  readonly way: Way;
}

export interface CutServer extends AsyncDisposable {
  readonly baseURL: string;
  /** Tells the server what has arrived, so that no byte is lost by the cut itself. */
  readonly fetch: typeof fetch;
  readonly cut: (name: string, cut: Cut) => void;
  /** What a run asked for, request by request. */
  readonly requests: (name: string) => readonly Seen[];
}

export async function openCutServer(wire: Wire): Promise<CutServer> {
  const whole = Buffer.from(wire.events(firstReply).join(""));
  const cuts = new Map<string, Cut>();
  const requests = new Map<string, Seen[]>();
  const arrivals = new Map<string, (total: number) => void>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = wire.seen(await bodyOf(request));
    const before = requests.get(seen.asked) ?? [];
    requests.set(seen.asked, [...before, seen]);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    const cut = cuts.get(seen.asked);
    if (!cut || before.length > 0) return void response.end(wire.events(replyTo(seen)).join(""));
    const { at, way } = cut;
    const bytes = Buffer.concat([whole.subarray(0, at), Buffer.from(way.more ?? "")]);
    const arrived = new Promise<void>((resolve) => {
      arrivals.set(seen.asked, (total) => total >= bytes.length && resolve());
      if (bytes.length === 0) resolve();
    });
    if (bytes.length > 0) response.write(bytes);
    if (way.after === "end") response.end();
    await arrived;
    if (way.after === "reset") response.socket?.resetAndDestroy();
  }

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    async fetch(input, init) {
      const response = await fetch(input, init);
      const { asked } = wire.seen(String(init?.body));
      return counted(response, (total) => arrivals.get(asked)?.(total));
    },
    cut: (name, cut) => cuts.set(name, cut),
    requests: (name) => requests.get(name) ?? [],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** What a good model would say now. */
function replyTo({ results, said: before = "" }: Seen): PlayedReply {
  if (results === wanted.length) return { text: "Done." };
  if (!said.startsWith(before)) return { text: `This is not what I had said: ${before}` };
  return { text: results === 0 ? said.slice(before.length) : "", calls: calls.slice(results), pieces: 7 };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

/** Nothing is read ahead: what is counted is in the reader's hands. */
function counted({ body, status, headers }: Response, arrived: (total: number) => void): Response {
  const reader = body?.getReader();
  let total = 0;
  const read = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (done || !value) return controller.close();
        total += value.length;
        controller.enqueue(value);
        setImmediate(arrived, total);
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(read, { status, headers });
}

/** Servers of this machine, and a resolver that answers as it is told. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Resolved } from "../../src/platform/safe-fetch/judge.ts";
import type { FetchLimits, FetchRules } from "../../src/platform/safe-fetch/rules.ts";
import { createSafeFetch, type SafeFetch } from "../../src/platform/safe-fetch/safe-fetch.ts";

export interface Site {
  readonly port: number;
  readonly seen: IncomingMessage[];
  url(host?: string): string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Listens on every loopback address, so that it matters which of them is connected to. */
export async function openSite(answer: RequestListener): Promise<Site> {
  const seen: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    seen,
    url: (host = "127.0.0.1") => `http://${host}:${port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** For names: each answer is given once, the last one for ever. */
export function resolverOf(answers: Readonly<Record<string, readonly (readonly string[])[]>>): {
  readonly asked: string[];
  resolver(host: string): Promise<readonly Resolved[]>;
} {
  const asked: string[] = [];
  const left = new Map(Object.entries(answers).map(([host, list]) => [host, [...list]]));
  return {
    asked,
    async resolver(host) {
      asked.push(host);
      const list = left.get(host) ?? [[]];
      const addresses = list.length > 1 ? list.shift() : list[0];
      return (addresses ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    },
  };
}

/** A fetch that may reach this machine, by every name that a test uses. */
export function openFetch(limits: Partial<FetchLimits> = {}, rules: Partial<FetchRules> = {}): SafeFetch {
  return createSafeFetch({ hosts: ["127.0.0.1"], privateRanges: ["127.0.0.0/8"], limits, ...rules });
}

export async function refusal(promise: Promise<unknown>): Promise<{ code: string; message: string; sent: unknown }> {
  const error = await promise.then(
    () => {
      throw new Error("it was not refused");
    },
    (caught: { code: string; message: string; details?: { sent?: unknown } }) => caught,
  );
  return { code: error.code, message: error.message, sent: error.details?.sent };
}

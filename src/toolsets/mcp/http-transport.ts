/**
 * A server over streamable HTTP: the protocol package's transport, with our headers and with answers of a bounded size.
 * Redirects are followed only within the server's own origin, so that headers go nowhere else.
 */
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type McpHttp, plain } from "./options.ts";

export function createHttpTransport(
  { url, headers = {} }: McpHttp,
  messageBytes: number,
): StreamableHTTPClientTransport {
  const given = Object.entries(headers).map(([name, value]): [string, string] => [name, plain(value)]);
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: Object.fromEntries(given) },
    fetch: async (input, init) => bounded(await fetch(input, init), messageBytes),
    redirectPolicy: "same-origin",
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 2,
    },
  });
}

/** Of a stream of events each line is bounded, of any other answer the whole. */
function bounded(response: Response, maxBytes: number): Response {
  if (!response.body) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
  let size = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const last = isStream ? chunk.lastIndexOf(10) : -1;
      size = last >= 0 ? chunk.length - last - 1 : size + chunk.length;
      if (size <= maxBytes && chunk.length <= maxBytes) controller.enqueue(chunk);
      else controller.error(new Error(`it answered with a message of more than ${maxBytes} bytes`));
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counting), { status, statusText, headers });
}

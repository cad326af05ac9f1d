// A stand-in for Anthropic's messages API, so that the example runs offline: it streams one reply per request.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface StandIn extends AsyncDisposable {
  readonly baseURL: string;
  /** What was sent, request by request. */
  readonly requests: readonly { readonly messages: readonly unknown[] }[];
}

/** Each reply is a list of content blocks, as the API describes them. */
export async function messagesServer(replies: readonly (readonly Block[])[]): Promise<StandIn> {
  const requests: { readonly messages: readonly unknown[] }[] = [];
  const server = createServer(async (request, response) => {
    const body = await new Response(request as never).text();
    requests.push(JSON.parse(body) as (typeof requests)[number]);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of eventsOf(replies[requests.length - 1] ?? [])) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

export type Block =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown };

function eventsOf(blocks: readonly Block[]): readonly { readonly type: string }[] {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-4-5", content: [] };
  const usage = { input_tokens: 20, cache_read_input_tokens: 400, cache_creation_input_tokens: 0, output_tokens: 1 };
  const stop_reason = blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  return [
    { type: "message_start", message: { ...message, stop_reason: null, usage } } as { type: string },
    ...blocks.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: begun(block) },
      ...deltasOf(block).map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 30 } } as {
      type: string;
    },
    { type: "message_stop" },
  ];
}

function begun(block: Block): object {
  if (block.type === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
}

function deltasOf(block: Block): readonly object[] {
  if (block.type === "text") return [{ type: "text_delta", text: block.text }];
  if (block.type === "tool_use") return [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
  const { thinking, signature } = block;
  return [
    { type: "thinking_delta", thinking },
    { type: "signature_delta", signature },
  ];
}

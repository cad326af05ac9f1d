// A small server that speaks OpenAI's chat completions, in place of a vendor's or of Ollama: it asks for the first tool
// that it is shown, and then says what the tool answered.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export interface ChatServer extends AsyncDisposable {
  readonly baseURL: string;
}

/** With a key it refuses everybody who has another one. */
export async function startChatServer({ key }: { readonly key?: string } = {}): Promise<ChatServer> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) {
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "Incorrect API key provided", code: "invalid_api_key" } }));
      return;
    }
    answer(JSON.parse(text) as ChatRequest, response);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function answer({ messages, tools = [] }: ChatRequest, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (chunk: object): void => {
    response.write(`data: ${JSON.stringify({ object: "chat.completion.chunk", ...chunk })}\n\n`);
  };
  const say = (delta: object, finish_reason: string | null = null): void =>
    send({ choices: [{ index: 0, delta, finish_reason }] });
  const last = messages.at(-1);
  const [tool] = tools;
  if (tool && last?.role !== "tool") {
    const code = { name: tool.function.name, arguments: '{"order": 7}' };
    say({ role: "assistant", tool_calls: [{ index: 0, id: "call_1", type: "function", function: code }] });
    say({}, "tool_calls");
  } else {
    for (const word of (last?.content ?? "").split(/(?<= )/)) say({ content: word });
    say({}, "stop");
  }
  const cached = { prompt_tokens_details: { cached_tokens: 12 } };
  send({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 5, ...cached } });
  response.end("data: [DONE]\n\n");
}

/** From a server's response to the parts of a reply: a stream of events, or one JSON document where it does not stream. */
import type { HoldfastError } from "../../domain/errors.ts";
import type { ModelPart } from "../../ports/provider.ts";
import { createSseReader, type SseEvent, SseTooLong } from "../shared/sse.ts";
import { type Answer, openAnswer } from "./answer.ts";
import type { Failures } from "./failures.ts";

/** Far more than any answer has; what is longer is refused before it fills the memory. */
const longestDocument = 8 * 1024 * 1024;
const longestError = 64 * 1024;

interface Reading {
  /** The key under which parts keep what the server wants back. */
  readonly keptAs: string;
  readonly failures: Failures;
  readonly signal: AbortSignal;
}

export async function* readResponse(response: Response, reading: Reading): AsyncIterable<ModelPart> {
  const { failures, keptAs } = reading;
  if (!response.ok) throw failures.refused(response, await errorBody(response));
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("text/html")) {
    await response.body?.cancel();
    throw failures.notAnApi();
  }
  const answer = openAnswer(keptAs, failures);
  if (type.includes("application/json")) yield* readWhole(response, answer, reading);
  else yield* readStream(response, answer, reading);
}

async function* readStream(response: Response, answer: Answer, reading: Reading): AsyncIterable<ModelPart> {
  for await (const events of eventsOf(response, answer, reading)) {
    for (const event of events) {
      const { data } = event;
      // After the finish a broken event is not missed.
      if (data?.trim() === "[DONE]" || (answer.isFinished && !isWhole(event))) {
        yield* answer.end();
        return;
      }
      const parts = data === undefined || data.trim() === "" ? [] : answer.take(parsed(data, reading.failures));
      if (parts.length === 0) yield { type: "ping" };
      yield* parts;
    }
  }
  if (!answer.isFinished) throw reading.failures.endedEarly();
  yield* answer.end(); // a server that does not say [DONE]
}

async function* eventsOf(response: Response, answer: Answer, reading: Reading): AsyncIterable<readonly SseEvent[]> {
  const reader = createSseReader(longestDocument);
  try {
    for await (const bytes of bytesOf(response)) yield reader.push(bytes);
    yield reader.end().filter(isWhole);
  } catch (cause) {
    if (answer.isFinished && !reading.signal.aborted) return; // nothing that counts was lost
    throw lost(cause, reading);
  }
}

/** A stream that breaks off leaves half an event behind, which is none. */
function isWhole({ data = "" }: SseEvent): boolean {
  try {
    return data.trim() === "" || data.trim() === "[DONE]" || JSON.parse(data) !== undefined;
  } catch {
    return false;
  }
}

async function* readWhole(response: Response, answer: Answer, reading: Reading): AsyncIterable<ModelPart> {
  const text = await textOf(response, longestDocument).catch((cause: unknown) => {
    throw lost(cause, reading);
  });
  if (text === undefined) throw reading.failures.malformed(`an answer of more than ${longestDocument} bytes`);
  yield* answer.take(parsed(text, reading.failures));
  yield* answer.end();
}

/** The text of it is not shown: it is what somebody wrote. */
function parsed(text: string, failures: Failures): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw failures.malformed("a chunk that is not JSON");
  }
}

function lost(cause: unknown, { failures, signal }: Reading): unknown {
  if (signal.aborted) return cause;
  if (cause instanceof SseTooLong) return failures.malformed(cause.message);
  return failures.network(cause, "during") satisfies HoldfastError;
}

async function errorBody(response: Response): Promise<string> {
  const text = await textOf(response, longestError).catch(() => "");
  return text ?? "";
}

/** Undefined when it is longer. */
async function textOf(response: Response, limit: number): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const bytes of bytesOf(response)) {
    size += bytes.length;
    if (size > limit) return undefined;
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/** Leaving the loop early cancels the body, and with it the connection. */
async function* bytesOf({ body }: Response): AsyncIterable<Uint8Array> {
  if (body) yield* body;
}

/**
 * Tool calls put together from their pieces. Servers differ: some leave out the index or give every call the same one,
 * some send a call whole, some repeat its id with every piece, some have no ids, some the same id twice.
 *
 * T1 A call that is complete JSON takes nothing more: what follows under its index or id is another call.
 * T2 Calls are ready in the order in which they began. One is ready when it is complete and another one has begun or the
 *    server has said that it is done, or when the reply is at its end.
 */
import type { JsonObject } from "../../domain/json.ts";
import type { ModelPart } from "../../ports/provider.ts";
import { isComplete } from "../shared/complete.ts";
import { isRecord, textIn } from "../shared/fields.ts";

interface OpenCall {
  readonly index: number | undefined;
  readonly id: string;
  tool: string;
  inputText: string;
  extra: JsonObject | undefined;
}

export interface CallPieces {
  /** What one delta says of calls. */
  take(pieces: readonly unknown[]): readonly ModelPart[];
  /** The server has said that it is done; servers are known that go on all the same. */
  finished(): readonly ModelPart[];
  /** The reply is at its end: everything that is not ready yet. */
  end(): readonly ModelPart[];
  readonly count: number;
}

export function createCallPieces(keptAs: string): CallPieces {
  const calls: OpenCall[] = [];
  let ready = 0;

  function takeOne(piece: unknown): readonly ModelPart[] {
    const { index: at, id: said, function: code, extra_content: extra } = isRecord(piece) ? piece : {};
    const { name, arguments: given } = isRecord(code) ? code : {};
    const index = Number.isSafeInteger(at) ? (at as number) : undefined;
    const id = textIn(said);
    const tool = textIn(name);
    // A server that has parsed the arguments already gives an object.
    const text = isRecord(given) ? JSON.stringify(given) : textIn(given);
    const found = find({ index, id, tool, text });
    const call = found ?? { index, id, tool, inputText: "", extra: undefined };
    if (!found) calls.push(call);
    call.tool ||= tool;
    call.inputText += text;
    if (isRecord(extra)) call.extra = { ...call.extra, ...(extra as JsonObject) };
    const before = found ? [] : readyUpTo(calls.length - 1);
    return [...before, { type: "tool-input-delta", index: calls.indexOf(call), tool: call.tool, text }];
  }

  function find(piece: { index: number | undefined; id: string; tool: string; text: string }): OpenCall | undefined {
    const { index, id, tool, text } = piece;
    const same = calls.findLast((call) => (index === undefined ? id === "" || call.id === id : call.index === index));
    if (!same) return undefined;
    if (id !== "" && same.id !== "" && id !== same.id) return undefined;
    const begins = id !== "" || tool !== "";
    return begins && text.trim() !== "" && isComplete(same.inputText) ? undefined : same; // T1
  }

  /** T2. */
  function readyUpTo(end: number): readonly ModelPart[] {
    const parts: ModelPart[] = [];
    for (; ready < end && isComplete(calls[ready]?.inputText ?? ""); ready += 1) parts.push(part(calls[ready]));
    return parts;
  }

  function part(call: OpenCall | undefined): ModelPart {
    const { id = "", tool = "", inputText = "", extra } = call ?? {};
    return {
      type: "tool-call",
      alias: id,
      tool,
      inputText: inputText.trim() === "" ? "{}" : inputText, // of a tool without parameters many servers send nothing
      ...(extra ? { metadata: { [keptAs]: { extra } } } : {}),
    };
  }

  return {
    take: (pieces) => pieces.flatMap(takeOne),
    finished: () => readyUpTo(calls.length),
    end() {
      const rest = calls.slice(ready).map(part);
      ready = calls.length;
      return rest;
    },
    get count() {
      return calls.length;
    },
  };
}

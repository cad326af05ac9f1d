/** Texts and thoughts of a reply, block by block, with what the provider wants back of them. */
import type { ModelPart } from "../../ports/provider.ts";
import { type Fields, textIn } from "../shared/fields.ts";
import { alive } from "./alive.ts";
import type { Blocks } from "./blocks.ts";
import type { Failures } from "./failures.ts";
import { kept, keptAsCustom } from "./kept.ts";

export interface Texts {
  /** `text-start`, `reasoning-delta` and so on. */
  take(type: string, fields: Fields): readonly ModelPart[];
  custom(fields: Fields): readonly ModelPart[];
}

interface Piece {
  readonly type: string;
  readonly text: string;
  readonly metadata: unknown;
}

export function openTexts(provider: string, blocks: Blocks, failures: Failures): Texts {
  /** Blocks that have begun, but have no words yet, with what the provider wants back of them. */
  const wordless = new Map<string, unknown>();
  let customs = 0;

  function start(key: string, metadata: unknown): readonly ModelPart[] {
    blocks.open(key);
    wordless.set(key, metadata);
    return alive;
  }

  function write(key: string, piece: Piece): readonly ModelPart[] {
    if (!blocks.isOpen(key)) start(key, undefined); // a provider that says no start
    const { type, text, metadata = wordless.get(key) } = piece;
    const begins = wordless.has(key);
    if (text === "" && (begins || metadata === undefined)) {
      if (begins) wordless.set(key, metadata);
      return alive;
    }
    wordless.delete(key);
    return blocks.add(key, partOf({ type, text, metadata }, begins));
  }

  /** A text without words is nothing. A thought without words may be one that only its provider can read. */
  function end(key: string, { type, metadata = wordless.get(key) }: Piece): readonly ModelPart[] {
    const isWordless = wordless.delete(key);
    const isWanted = metadata !== undefined && (!isWordless || type === "reasoning");
    const rest = partOf({ type, text: "", metadata }, isWordless);
    const parts = isWanted && blocks.isOpen(key) ? blocks.add(key, rest) : alive;
    return [...parts, ...blocks.close(key)];
  }

  /** A thought is always marked as this provider's. */
  function partOf({ type, text, metadata }: Piece, begins: boolean): ModelPart {
    const isMarked = metadata !== undefined || (begins && type === "reasoning");
    return {
      type: type === "text" ? "text-delta" : "reasoning-delta",
      text,
      ...(begins ? { begins } : {}),
      ...(isMarked ? { metadata: kept(provider, metadata) } : {}),
    };
  }

  return {
    take(whole, fields) {
      const [type = "", verb] = whole.split("-");
      const { id, delta: words, providerMetadata: metadata } = fields;
      const key = `${type}:${String(id)}`;
      if (verb === "start") return start(key, metadata);
      if (verb === "end") return end(key, { type, text: "", metadata });
      if (typeof words !== "string") throw failures.malformed(`a ${whole} without a delta`);
      return write(key, { type, text: words, metadata });
    },
    custom({ kind, providerMetadata }) {
      customs += 1;
      const key = `custom:${customs}`;
      const metadata = keptAsCustom(provider, textIn(kind), providerMetadata);
      blocks.open(key);
      const parts = blocks.add(key, { type: "reasoning-delta", text: "", begins: true, metadata });
      return [...parts, ...blocks.close(key)];
    },
  };
}

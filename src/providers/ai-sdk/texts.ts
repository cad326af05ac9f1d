/** Texts and thoughts of a reply, block by block, with what the provider wants back of them. */
import type { PartMetadata } from "../../domain/message.ts";
import type { ModelPart } from "../../ports/provider.ts";
import type { Blocks } from "./blocks.ts";
import type { Failures } from "./failures.ts";
import { kept, keptAsCustom } from "./kept.ts";
import { alive, type Fields, textIn } from "./reply-fields.ts";

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
  /** Texts that have begun, but have no words yet: they become a part with their first one, or never. */
  const wordless = new Map<string, unknown>();
  let customs = 0;

  function start(key: string, type: string, metadata: unknown): readonly ModelPart[] {
    blocks.open(key);
    if (type === "text") {
      wordless.set(key, metadata);
      return alive;
    }
    return blocks.add(key, { type: "reasoning-delta", text: "", begins: true, metadata: kept(provider, metadata) });
  }

  function write(key: string, piece: Piece): readonly ModelPart[] {
    return wordless.has(key) ? first(key, piece) : more(key, piece);
  }

  function first(key: string, { text, metadata = wordless.get(key) }: Piece): readonly ModelPart[] {
    if (text === "") {
      wordless.set(key, metadata);
      return alive;
    }
    wordless.delete(key);
    return blocks.add(key, { type: "text-delta", text, begins: true, ...wanted(metadata) });
  }

  function more(key: string, { type, text, metadata }: Piece): readonly ModelPart[] {
    if (text === "" && metadata === undefined) return alive;
    return blocks.add(key, { type: type === "text" ? "text-delta" : "reasoning-delta", text, ...wanted(metadata) });
  }

  function wanted(metadata: unknown): { readonly metadata?: PartMetadata } {
    return metadata === undefined ? {} : { metadata: kept(provider, metadata) };
  }

  function delta(key: string, piece: Piece): readonly ModelPart[] {
    const begun = blocks.isOpen(key) ? [] : start(key, piece.type, undefined); // a provider that says no start
    return [...begun, ...write(key, piece)];
  }

  function end(key: string, piece: Piece): readonly ModelPart[] {
    const written = blocks.isOpen(key) ? write(key, piece) : alive;
    wordless.delete(key);
    return [...written, ...blocks.close(key)];
  }

  return {
    take(whole, fields) {
      const [type = "", verb] = whole.split("-");
      const { id, delta: words, providerMetadata: metadata } = fields;
      const key = `${type}:${String(id)}`;
      if (verb === "start") return start(key, type, metadata);
      if (verb === "end") return end(key, { type, text: "", metadata });
      if (typeof words !== "string") throw failures.malformed(`a ${whole} without a delta`);
      return delta(key, { type, text: words, metadata });
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

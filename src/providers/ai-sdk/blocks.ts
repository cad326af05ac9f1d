/**
 * Blocks of a reply in the order in which they began. A provider may write several at once; our parts come one after the
 * other, so what belongs to a later block waits until those before it are closed.
 */
import type { ModelPart } from "../../ports/provider.ts";

interface Block {
  readonly key: string;
  readonly held: ModelPart[];
  isOpen: boolean;
}

export interface Blocks {
  /** Begins one, unless it is open already. */
  open(key: string): void;
  isOpen(key: string): boolean;
  /** Of a block that is open: what can be told by now. */
  add(key: string, part: ModelPart): readonly ModelPart[];
  close(key: string): readonly ModelPart[];
  /** The reply is at its end: everything that was held. */
  end(): readonly ModelPart[];
}

export function createBlocks(): Blocks {
  let blocks: Block[] = [];
  const find = (key: string): Block | undefined => blocks.find((block) => block.key === key && block.isOpen);

  /** Of the first block everything is told, and of each that follows a closed one. */
  function ready(): readonly ModelPart[] {
    const parts: ModelPart[] = [];
    for (let [first] = blocks; first; [first] = blocks) {
      parts.push(...first.held.splice(0));
      if (first.isOpen) break;
      blocks.shift();
    }
    return parts;
  }

  return {
    open(key) {
      if (!find(key)) blocks.push({ key, held: [], isOpen: true });
    },
    isOpen: (key) => find(key) !== undefined,
    add(key, part) {
      find(key)?.held.push(part);
      return ready();
    },
    close(key) {
      const block = find(key);
      if (block) block.isOpen = false;
      return ready();
    },
    end() {
      const parts = blocks.flatMap(({ held }) => held);
      blocks = [];
      return parts;
    },
  };
}

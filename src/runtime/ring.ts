/**
 * A ring: the newest items of one stream, shared by all its watchers. Memory is per ring, not per watcher.
 * A reader that falls more than a ring behind is told so and catches up elsewhere.
 */

export interface Ring<Item> {
  /** The number of the next item. */
  head(): number;
  push(item: Item): void;
  /** Undefined when the ring has gone over this number already. */
  at(number: number): Item | undefined;
  /** Whether item `number` was overwritten. */
  lost(number: number): boolean;
  /** Called at every push, until removed. */
  onPush(listener: () => void): () => void;
}

export const ringSize = 1_024;

export function createRing<Item>(size: number = ringSize): Ring<Item> {
  const slots: Item[] = [];
  const listeners = new Set<() => void>();
  let next = 0;
  return {
    head: () => next,
    push(item) {
      slots[next % size] = item;
      next += 1;
      for (const listener of listeners) listener();
    },
    at: (number) => (number < next && number >= next - size ? slots[number % size] : undefined),
    lost: (number) => number < next - size,
    onPush(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * Which images and files of a conversation a call carries, by their bytes. Pure.
 *
 * R1 What one call carries the next one carries too, at the same place, while all together fit: calls share their beginning.
 * R2 When they do not fit, the oldest make room at once, down to half of what fits: the next such move is as far away as that.
 * R3 The newest message that has any keeps them, unless they do not fit alone.
 */
import type { Message } from "./message.ts";

interface Sized {
  readonly message: Message;
  /** Of its images and files. */
  readonly bytes: number;
}

/** Those whose images and files are named instead. One that does not fit alone takes no room from the others. */
export function withoutRoom(sized: readonly Sized[], most: number): ReadonlySet<Message> {
  const out = new Set(sized.filter(({ bytes }) => bytes > most).map(({ message }) => message));
  const carried: Sized[] = [];
  let total = 0;
  for (const each of sized) {
    if (each.bytes === 0 || out.has(each.message)) continue;
    carried.push(each);
    total += each.bytes;
    if (total <= most) continue;
    while (total > most / 2 && carried.length > 1) {
      const [oldest] = carried.splice(0, 1) as [Sized];
      out.add(oldest.message);
      total -= oldest.bytes;
    }
  }
  return out;
}

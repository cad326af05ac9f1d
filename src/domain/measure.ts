/** About how many tokens something is. Close enough to hold money and room by; what it really was comes with the answer. */
import type { Message, Part } from "./message.ts";

/** Characters of JSON per token. Real text has more, so that an estimate is rather too high. */
const charactersPerToken = 3;
const perMessage = 4;
/** What vendors count for an image or a page, whatever its bytes. */
const perPicture = 1_000;

export function tokensIn(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

const known = new WeakMap<object, number>();

/** Messages never change, so each is measured once. */
export function tokensOf(message: Message): number {
  const measured = known.get(message);
  if (measured !== undefined) return measured;
  let tokens = perMessage;
  for (const part of message.parts) tokens += tokensOfPart(part);
  known.set(message, tokens);
  return tokens;
}

function tokensOfPart(part: Part): number {
  switch (part.type) {
    case "text":
      return tokensIn(part.text.length);
    case "image":
    case "file":
      return perPicture;
    default:
      return tokensIn(JSON.stringify(part).length);
  }
}

/** Of tools and schemas: plain data that does not change either. */
export function tokensOfJson(value: object): number {
  const measured = known.get(value);
  if (measured !== undefined) return measured;
  const tokens = tokensIn(JSON.stringify(value).length);
  known.set(value, tokens);
  return tokens;
}

export function sumOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0);
}

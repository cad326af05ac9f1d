/** Images and files, as the two versions of the specification want them. Nothing is fetched on a model's behalf. */
import { HoldfastError } from "../../domain/errors.ts";
import { type AnyFile, addressOf, dataUrl } from "../../domain/file-part.ts";
import type { ModelPart } from "../../ports/provider.ts";
import { type Fields, recordIn, textIn } from "../shared/fields.ts";
import type { Failures } from "./failures.ts";
import { kept } from "./kept.ts";
import type { DataV3, DataV4, PromptFile, SpecificationVersion } from "./types.ts";

export interface FileRules {
  readonly version: SpecificationVersion;
  /** provider/model, for people. */
  readonly name: string;
  /** Addresses that the provider fetches itself, by media type. */
  readonly urls: Readonly<Record<string, readonly RegExp[]>>;
}

export function promptFile(part: AnyFile, rules: FileRules): PromptFile<DataV3 | DataV4> {
  const filename = part.type === "file" && part.name !== undefined ? { filename: part.name } : {};
  return { type: "file", mediaType: part.mediaType, data: dataOf(part, rules), ...filename };
}

function dataOf(part: AnyFile, rules: FileRules): DataV3 | DataV4 {
  const address = addressOf(part);
  const data = base64Of(address);
  if (data !== undefined) return rules.version === "v3" ? data : { type: "data", data };
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !isFetched(part.mediaType, address, rules.urls)) {
    const what = `The ${part.type} ${part.mediaType} cannot be sent to ${rules.name}`;
    throw new HoldfastError(
      "model-refused",
      `${what}: it does not fetch that address; put the bytes into the message, as data:${part.mediaType};base64,…`,
    );
  }
  return rules.version === "v3" ? url : { type: "url", url };
}

function base64Of(url: string): string | undefined {
  const [, head, body = ""] = /^data:([^,]*),(.*)$/is.exec(url) ?? [];
  if (head === undefined) return undefined;
  return /;base64$/i.test(head.trim()) ? body : Buffer.from(unescaped(body)).toString("base64");
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A file of a reply: v3 gives its bytes, v4 says what it gives. Marked as this provider's, to which it may go back. */
export function fileOf(fields: Fields, provider: string, failures: Failures): ModelPart {
  const mediaType = textIn(fields.mediaType);
  const { type, data = fields.data, url } = recordIn(fields.data);
  const head = { type: "file", mediaType, metadata: kept(provider, fields.providerMetadata) } as const;
  if (type === "url" && (typeof url === "string" || url instanceof URL)) return { ...head, url: String(url) };
  if (data instanceof Uint8Array) return { ...head, url: dataUrl(mediaType, data) };
  if (typeof data !== "string") throw failures.malformed(`a file (${mediaType}) without its bytes`);
  return { ...head, url: `data:${mediaType};base64,${data}` };
}

/** Media types may be whole or end in a star, as in `image/*`. */
function isFetched(mediaType: string, url: string, urls: FileRules["urls"]): boolean {
  const type = mediaType.toLowerCase();
  return Object.entries(urls).some(([pattern, addresses]) => {
    const [begin = ""] = pattern.toLowerCase().split("*");
    const fits = pattern.includes("*") ? type.startsWith(begin) : type === pattern.toLowerCase();
    return (
      fits && addresses.some((address) => new RegExp(address.source, address.flags.replace(/[gy]/g, "")).test(url))
    );
  });
}

/** What a model says of addresses; what cannot be read is nothing. */
export function readUrls(said: unknown): FileRules["urls"] {
  if (typeof said !== "object" || said === null) return {};
  const entries = Object.entries(said as Readonly<Record<string, unknown>>);
  const isPattern = (each: unknown): each is RegExp => each instanceof RegExp;
  return Object.fromEntries(entries.map(([type, list]) => [type, Array.isArray(list) ? list.filter(isPattern) : []]));
}

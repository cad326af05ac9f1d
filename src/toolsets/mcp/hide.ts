/**
 * What a server, its program or the network says may repeat what was sent to it: headers, environment, arguments.
 *
 * V1 A secret gets into no error, log, status or result.
 * V2 A plain value gets into no error, log or status where it is a credential: by the name it was given under, or by its looks.
 * V3 Every other plain value stays as it is. Words and paths are what explains an error.
 */
import { messageOf } from "../../domain/json.ts";
import { isSecret, type Secret, secretMark } from "../../domain/secret.ts";
import type { McpServerOptions } from "./options.ts";

export interface Hiding {
  /** For errors and statuses: secrets, and what looks like one. */
  words(text: unknown): string;
  /** For results: secrets only, for nobody has said so of another value. */
  result(text: string): string;
}

interface Given {
  readonly name: string;
  readonly value: string | Secret;
}

/** Shorter values are words that any text may have in it. */
const shortest = 6;

export function hidingOf(options: McpServerOptions): Hiding {
  const given = givenTo(options);
  const secrets = given.flatMap(({ value }) => (isSecret(value) ? pieces(value.reveal()) : []));
  const credentials = given.flatMap(({ name, value }) => (isSecret(value) ? [] : credentialsIn(name, value)));
  const all = longestFirst([...secrets, ...credentials]);
  const hidden = longestFirst(secrets);
  return {
    words: (text) => replaceAll(messageOf(text), all),
    result: (text) => replaceAll(text, hidden),
  };
}

function givenTo({ stdio, http }: McpServerOptions): readonly Given[] {
  const query = http ? [...new URL(http.url).searchParams] : [];
  const named = [...Object.entries(stdio?.env ?? {}), ...Object.entries(http?.headers ?? {}), ...query];
  return [...named.map(([name, value]) => ({ name, value })), ...argsOf(stdio?.args ?? [])];
}

/** `--token=abc` and `--token abc` say what abc is; a file after `--no-auth` is a file. */
function argsOf(args: readonly (string | Secret)[]): readonly Given[] {
  return args.map((value, at) => {
    const [, flag, rest] = isSecret(value) ? [] : (/^-+([^=]+)=(.*)$/s.exec(value) ?? []);
    if (flag !== undefined && rest !== undefined) return { name: flag, value: rest };
    const before = args[at - 1];
    const isNamed = typeof before === "string" && before.startsWith("-") && !isSecret(value) && !isFile(value);
    return { name: isNamed ? before : "", value };
  });
}

const credentialName =
  /(?:^|[^a-z])(?:key|token|secret|pass|passwd|pwd|auth|authorization|credential|cookie|session|sig|signature)s?(?:[^a-z]|$)|(?:password|passphrase|secret|token|apikey)s?$/i;
/** `KEY_FILE` and `AUTH_MODE` say something about a credential, and are none. */
const aboutCredential = /[^a-z](?:file|path|dir|name|type|mode|url|host|user)$/i;
const path = /^(?:\.{0,2}[\\/]|~|[a-z]:\\|file:)/i;

function isFile(value: string): boolean {
  return path.test(value) || /\.[a-z]{1,4}$/i.test(value);
}

/** V2, V3. */
function credentialsIn(name: string, value: string): readonly string[] {
  const words = name.replace(/([a-z])([A-Z])/g, "$1_$2");
  const isNamed = credentialName.test(words) && !aboutCredential.test(words);
  const inAddress = /:\/\/([^/@\s]*:([^/@\s]+))@/.exec(value)?.slice(1) ?? [];
  const whole = isNamed || looksRandom(value) ? pieces(value) : [];
  return [...whole, ...inAddress].filter((text) => text.length >= shortest && !/^[a-z]{1,11}$/i.test(text));
}

/** Long, with letters and digits mixed and nothing between them, as no word is. */
function looksRandom(value: string): boolean {
  const runs = path.test(value) ? [] : (value.match(/[a-z0-9+]{16,}/gi) ?? []);
  return runs.some((run) => /[a-z]/i.test(run) && /[0-9]/.test(run));
}

/** "Bearer abc" is hidden as it is, and where only "abc" is repeated. */
function pieces(value: string): readonly string[] {
  const last = value.split(/\s+/).at(-1) ?? "";
  return [value, ...(last.length >= shortest ? [last] : [])];
}

function longestFirst(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort((a, b) => b.length - a.length);
}

function replaceAll(text: string, values: readonly string[]): string {
  return values.reduce((said, value) => said.replaceAll(value, secretMark), text);
}

/** Where a server is, without what may be secret in it. */
export function placeOf({ stdio, http }: McpServerOptions): string {
  if (http) {
    const { origin, pathname } = new URL(http.url);
    return origin + pathname;
  }
  return stdio?.command ?? "";
}

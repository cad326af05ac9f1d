/**
 * Names of tools: `server__tool`. Servers may use more letters than a model's tool name may have, and longer names; what
 * does not fit is replaced by something that depends on the whole name, so that two names stay two.
 */
import type { Hash } from "../../ports/hash.ts";

const longest = 64;
const marked = 8;

export function toolName(server: string, tool: string, hash: Hash): string {
  const room = longest - server.length - 2;
  const fitting = tool.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
  if (fitting === tool && tool.length <= room && tool !== "") return `${server}__${tool}`;
  return `${server}__${fitting.slice(0, room - marked - 1)}_${hash.sha256(tool).slice(0, marked)}`;
}

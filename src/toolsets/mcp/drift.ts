/** What has become of pinned tools: each that is gone or another one, in words. Tools that came new are nobody's. */
import { isSame } from "../../domain/manifest-diff.ts";
import type { McpPin, McpPins } from "./pins.ts";

/** By the server's names. */
export type Drift = ReadonlyMap<string, string>;

interface Looking {
  readonly read: (tool: unknown) => McpPin | undefined;
  /** Hints that nobody trusts may change as they like. */
  readonly trusted: boolean;
}

export function driftOf(pins: McpPins, now: readonly unknown[], { read, trusted }: Looking): Drift {
  const drift = new Map<string, string>();
  const named = now.map((tool) => ({ tool, name: (tool as { name?: unknown } | null)?.name }));
  for (const pin of pins.tools) {
    const found = named.filter(({ name }) => name === pin.name);
    const [only] = found;
    if (!only) drift.set(pin.name, "is gone");
    else if (found.length > 1) drift.set(pin.name, "is there twice");
    else {
      const listed = read(only.tool);
      const what = difference(pin, listed && !trusted ? { ...listed, hints: pin.hints } : listed);
      if (what) drift.set(pin.name, what);
    }
  }
  return drift;
}

function difference(pin: McpPin, now: McpPin | undefined): string | undefined {
  if (!now) return "can no longer be read";
  const fields = {
    description: pin.description !== now.description,
    "input schema": !isSame(pin.inputSchema, now.inputSchema),
    hints: !isSame({ ...pin.hints }, { ...now.hints }),
  };
  const changed = Object.entries(fields).flatMap(([field, is]) => (is ? [field] : []));
  return changed.length === 0 ? undefined : `has another ${changed.join(" and another ")}`;
}

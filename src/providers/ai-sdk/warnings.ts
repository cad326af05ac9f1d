/** What a provider could not do as it was asked. Each is said once for a model: calls repeat them. */
import { shortened } from "../../domain/json.ts";
import { listIn, recordIn } from "../shared/fields.ts";

export type OnWarning = (warning: string) => void;

export interface Warnings {
  /** Of one call, as the provider lists them. */
  take(list: unknown): void;
  say(warning: string): void;
}

/** More different ones than a provider has. */
const most = 100;

export function createWarnings(name: string, onWarning: OnWarning = toProcess): Warnings {
  const told = new Set<string>();
  function say(warning: string): void {
    const text = shortened(`${name}: ${warning}`);
    if (told.has(text) || told.size >= most) return;
    told.add(text);
    try {
      onWarning(text);
    } catch {
      // A warning that cannot be said must not cost an answer.
    }
  }
  return {
    take(list) {
      for (const each of listIn(list)) say(wordsOf(each));
    },
    say,
  };
}

function wordsOf(warning: unknown): string {
  const { type, feature, setting, details, message } = recordIn(warning);
  const known = [type, feature ?? setting, details ?? message].filter((word) => typeof word === "string");
  return known.length === 0 ? "a warning without words" : known.join(": ");
}

function toProcess(warning: string): void {
  process.emitWarning(warning, "HoldfastWarning");
}

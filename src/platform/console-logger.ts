import type { Logger } from "../ports/logger.ts";

/** Warnings to standard error, one line each; notes are dropped. */
export const consoleLogger: Logger = {
  warn(message, details) {
    process.stderr.write(`holdfast: ${message}${details ? ` ${show(details)}` : ""}\n`);
  },
  note() {
    return;
  },
};

function show(details: Readonly<Record<string, unknown>>): string {
  try {
    return JSON.stringify(details);
  } catch {
    return "(details cannot be shown)";
  }
}

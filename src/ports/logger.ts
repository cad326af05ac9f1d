/** Where the house speaks to its operator. Never throws, never waits. */
export interface Logger {
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  note(message: string, details?: Readonly<Record<string, unknown>>): void;
}

/** Reading what a server sent: nothing is believed to be there. */

export type Fields = { readonly [name: string]: unknown };

export function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function recordIn(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

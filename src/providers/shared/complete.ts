/** Whether a call's input is a whole object: nothing that may follow could make it another one. */

/** Looks at the last character first: a long input is parsed only where it may be whole. */
export function isComplete(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Blanks and comments before the first word. */
const lead = String.raw`^(?:\s|--[^\n\r]*[\n\r]|\/\*[\s\S]*?\*\/|;)*`;
/** The transaction is the store's: a tool that ends it would tear its work from the settlement. */
const ending = new RegExp(
  String.raw`${lead}(?:begin|start|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b`,
  "i",
);
/** Without LOCAL it outlives the transaction, on a connection that is everyone's. */
const setting = new RegExp(String.raw`${lead}set\s+(?!local\b|constraints\b|transaction\b)`, "i");

export function endsTransaction(sql: string): boolean {
  return ending.test(sql);
}

export function setsForLater(sql: string): boolean {
  return setting.test(sql);
}

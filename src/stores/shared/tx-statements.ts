/** Blanks and comments before the first word. */
const lead = String.raw`^(?:\s|--[^\n\r]*[\n\r]|\/\*[\s\S]*?\*\/|;)*`;
/** The transaction is the store's: a tool that ends it would tear its work from the settlement. */
const ending = new RegExp(
  String.raw`${lead}(?:begin|start|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b`,
  "i",
);
/** Without LOCAL it outlives the transaction, on a connection that is everyone's. */
const setting = new RegExp(
  String.raw`${lead}(?:set\s+(?!local\b|constraints\b|transaction\b)|reset\b|discard\b|listen\b|unlisten\b|prepare\b|deallocate\b|load\b)`,
  "i",
);
/** The store writes its own rows after the tool has: as itself. */
const role = new RegExp(String.raw`${lead}set\s+(?:local\s+)?(?:role|session\s+authorization)\b`, "i");
/** SQLite: these belong to the connection, not to the transaction. */
const connection = new RegExp(String.raw`${lead}(?:attach|detach|pragma|vacuum)\b`, "i");

export function endsTransaction(sql: string): boolean {
  return ending.test(sql);
}

export function changesRole(sql: string): boolean {
  return role.test(sql);
}

export function changesConnection(sql: string): boolean {
  return connection.test(sql);
}

export function setsForLater(sql: string): boolean {
  return setting.test(sql);
}

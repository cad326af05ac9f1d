/** The transaction is the store's: a tool that ends it would tear its work from the settlement. */
const ending =
  /^(?:\s|--[^\n\r]*[\n\r]|\/\*[\s\S]*?\*\/|;)*(?:begin|start|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b/i;

export function endsTransaction(sql: string): boolean {
  return ending.test(sql);
}

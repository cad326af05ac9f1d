/**
 * Tools that write into the store's own database: `prepare` reads and thinks, `apply` writes inside the commit that
 * settles the call. Both happen or neither, so such a call is never unknown.
 */
import { isFunction, Problems, shown } from "./problems.ts";
import type { InputOf, OutputOf, StandardSchema } from "./standard-schema.ts";
import { type ResultOf, type Tool, type ToolContext, type ToolOptions, type TransactionKind, tool } from "./tool.ts";

/** What both kinds have in common with any other tool. */
type Shared<Schema extends StandardSchema> = Pick<
  ToolOptions<Schema, unknown>,
  "name" | "description" | "input" | "version" | "needsApproval" | "approval" | "timeoutMs" | "concurrency" | "writes"
>;

export interface TransactionalOptions<Schema extends StandardSchema, Tx, Prepared, Output> extends Shared<Schema> {
  /** Outside the transaction, and again after a crash: reads only. Without it `apply` gets the input. */
  readonly prepare?: (input: OutputOf<Schema>, context: ToolContext) => Prepared | Promise<Prepared>;
  /** Inside the transaction. It may run again when nothing of the first time was kept, so it only uses `tx`. */
  readonly apply: (tx: Tx, prepared: Prepared, context: ToolContext) => Output;
}

export function makeTransactional<Schema extends StandardSchema, Tx, Prepared, Output>(
  kind: TransactionKind,
  options: TransactionalOptions<Schema, Tx, Prepared, Output>,
): Tool<InputOf<Schema>, ResultOf<Awaited<Output>>> {
  const { prepare, apply, ...shared } = options ?? {};
  const problems = new Problems({ prepare, apply }, ["prepare", "apply"]);
  problems.optional("prepare", isFunction, "must be a function (input, context)");
  problems.check("apply", isFunction, "must be a function (tx, prepared, context)");
  for (const name of ["effect", "execute", "reconcile", "resume", "onUnknown"]) {
    if (Object.hasOwn(shared, name)) problems.add(`${name}: a transactional tool has none`);
  }
  problems.refuse("invalid-tool", `Transactional tool ${shown(options?.name)} cannot be defined`);
  const execute = prepare ?? ((input: OutputOf<Schema>) => input as unknown as Prepared);
  const made = tool({ ...shared, effect: "pure", execute });
  return {
    spec: { ...made.spec, effect: "transactional", transaction: kind },
    code: { ...made.code, apply: apply as NonNullable<Tool["code"]["apply"]> },
  };
}

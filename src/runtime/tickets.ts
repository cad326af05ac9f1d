/** Tickets as a user sees them: a union on `kind` with only the legal verbs. */
import { HoldfastError } from "../domain/errors.ts";
import { type CallId, parseId, type RunId, type ThreadId, type TicketId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import { Problems } from "../domain/problems.ts";
import type { SettlementRecord, TicketKind, TicketRecord } from "../domain/ticket.ts";
import { ticketVerbs } from "../domain/ticket.ts";
import type { Tool } from "../domain/tool.ts";
import { loadState } from "../engine/load.ts";
import { readManifest } from "../engine/read-manifest.ts";
import type { PostAnswer, TicketFilter, TicketRow } from "../ports/store.ts";
import { anyone, checkAct } from "./act-options.ts";
import { type Desk, written } from "./desk.ts";
import { post } from "./outside-door.ts";
import { readDecision } from "./read-decision.ts";
import { redactingErrors } from "./redacted-error.ts";
import type { AnswerOptions, ListTickets, OfferedDecision, Settlement, Ticket, Tickets } from "./runtime.ts";

const defaultLimit = 100;
const maxLimit = 10_000;

export function createTickets(desk: Desk): Tickets {
  async function list(filter: ListTickets & { readonly tool?: Tool } = {}): Promise<readonly Ticket[]> {
    const rows = await desk.store.tickets(filterOf(filter, desk));
    return rows.map((row) => openTicket(row, desk));
  }

  async function find(id: string): Promise<TicketRow | undefined> {
    const { scope } = desk;
    const [byId] = await desk.store.tickets({ scope, id: parseId<TicketId>("ticket id", id), limit: 1 });
    if (byId) return byId;
    const [byCall] = await desk.store.tickets({ scope, call: id as CallId, status: "open", limit: 1 });
    return byCall;
  }

  return {
    list: list as Tickets["list"],
    async get(id) {
      const row = await find(id);
      return row ? openTicket(row, desk) : undefined;
    },
    async decide(id, answer) {
      const row = await find(id);
      if (!row) throw notFound(id, desk);
      if (typeof answer !== "object" || answer === null) {
        throw new HoldfastError("invalid-decision", `Ticket ${id} is decided by { kind, hash, … }`);
      }
      const { hash, by, key, roles, ...decision } = answer;
      const given = { by, key, roles };
      const options = Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== undefined),
      ) as AnswerOptions;
      const ticket = { ...row.ticket, hash };
      return redactingErrors(desk, () => decideTicket(ticket, decision as OfferedDecision, { desk, options }));
    },
  };
}

function filterOf(filter: ListTickets & { readonly tool?: Tool }, desk: Desk): TicketFilter {
  const problems = new Problems(filter, ["status", "kind", "run", "root", "thread", "tool", "limit"]);
  problems.oneOf("status", ["open", "decided"]);
  problems.oneOf("kind", Object.keys(ticketVerbs));
  problems.optional("tool", (tool) => typeof (tool as Tool).spec?.name === "string", "must come from tool({ … })");
  problems.integer("limit", 1, maxLimit);
  problems.refuse("invalid-options", "Tickets cannot be listed");
  const { status, kind, run, root, thread, tool, limit = defaultLimit } = filter;
  return {
    scope: desk.scope,
    limit,
    ...(status === undefined ? {} : { status }),
    ...(kind === undefined ? {} : { kind }),
    ...(run === undefined ? {} : { run: parseId<RunId>("run id", run) }),
    ...(root === undefined ? {} : { rootRun: parseId<RunId>("run id", root) }),
    ...(thread === undefined ? {} : { thread: parseId<ThreadId>("thread", thread) }),
    ...(tool === undefined ? {} : { tool: tool.spec.name }),
  };
}

type Verbs = Record<string, (...args: never[]) => Promise<Settlement>>;

export function openTicket(row: TicketRow, desk: Desk): Ticket {
  const { settlement } = row;
  const ticket = settlement ? withoutOutput(row.ticket) : row.ticket;
  const decide = (decision: OfferedDecision, options: AnswerOptions = {}): Promise<Settlement> =>
    redactingErrors(desk, () => decideTicket(ticket, decision, { desk, options }));
  const call = ticket.call ? { tool: ticket.call.tool, input: ticket.call.input } : {};
  const settled = settlement ? { settlement: shown(settlement) } : {};
  return { ...ticket, ...call, ...settled, ...verbsOf(ticket.kind, decide) } as unknown as Ticket;
}

/** The answer is there to be judged: whoever looks later finds the decision, and the answer only if it was let through. */
function withoutOutput({ output: _output, ...ticket }: TicketRecord): TicketRecord {
  return ticket;
}

type Decide = (decision: OfferedDecision, options?: AnswerOptions) => Promise<Settlement>;

function verbsOf(kind: TicketKind, decide: Decide): Verbs {
  const verbs = {
    approve: (options: AnswerOptions & { value?: JsonValue } = {}) => {
      const value = options?.value;
      return decide({ kind: "approve", ...(value === undefined ? {} : { value }) }, options);
    },
    edit: (input: JsonValue, options?: AnswerOptions) => decide({ kind: "edit", input }, options),
    reject: (reason: string, options?: AnswerOptions) => decide({ kind: "reject", reason }, options),
    answer: (value: JsonValue, options?: AnswerOptions) => decide({ kind: "answer", value }, options),
    markDone: (result: JsonValue, options?: AnswerOptions) => decide({ kind: "mark-done", result }, options),
    markFailed: (reason: string, options?: AnswerOptions) => decide({ kind: "mark-failed", reason }, options),
    runAgain: (options?: AnswerOptions) => decide({ kind: "run-again" }, options),
    release: (options?: AnswerOptions) => decide({ kind: "release" }, options),
    cancelRun: (options?: AnswerOptions) => decide({ kind: "cancel-run" }, options),
  };
  const { approve, edit, reject, answer, markDone, markFailed, runAgain, release, cancelRun } = verbs;
  switch (kind) {
    case "approval":
      return { approve, edit, reject, answer };
    case "input":
    case "auth":
      return { answer };
    case "unknown-outcome":
      return { markDone, markFailed, runAgain, cancelRun };
    case "pause":
    case "quarantined":
    case "missing-capability":
      return { release, cancelRun };
    case "timer":
    case "child":
    case "background":
      return {};
    default:
      return kind satisfies never;
  }
}

async function decideTicket(
  ticket: TicketRecord,
  offered: OfferedDecision,
  by: { readonly desk: Desk; readonly options: AnswerOptions },
): Promise<Settlement> {
  const { desk } = by;
  const decision = readDecision(ticket, offered);
  const taken = ["roles", ...(decision.kind === "approve" ? ["value"] : [])]; // `approve` takes its value among its options
  const options = checkAct(by.options, `Ticket ${ticket.id} cannot be decided like this`, taken);
  if (decision.kind === "edit") await checkEdit(ticket, decision.input, desk);
  const key = options.key ?? desk.ids.next();
  const roles = options.roles === undefined ? {} : { roles: options.roles };
  const who = { by: options.by ?? anyone, ...roles };
  const fact = { type: "ticket-decided", ticket: ticket.id, decision, ...who, key } as const;
  const answer = await post({ scope: desk.scope, run: ticket.run, key, fact, hash: ticket.hash }, desk);
  if (answer.kind === "posted" && answer.settlement) return { ...shown(answer.settlement), mine: true };
  if (isLate(answer)) await keepLate({ ticket, decision, by: fact.by }, desk);
  if (answer.kind === "settled") return { ...shown(answer.settlement), mine: false };
  const code = answer.kind === "refused" ? answer.code : "ticket-not-found";
  const when = answer.kind === "refused" && answer.decidableFrom ? ` before ${answer.decidableFrom}` : "";
  throw new HoldfastError(code, `Ticket ${ticket.id} cannot be decided${when}${whyNot(code, fact.by)}`, {
    details: { ticket: ticket.id, ...answer },
  });
}

function whyNot(code: HoldfastError["code"], by: string): string {
  if (code === "answer-not-allowed") return ` by ${by}: only its audience may answer it, and never who asks`;
  return code === "ticket-hash-mismatch" ? ": the answer is to something else than it shows now" : "";
}

/** The run went on without it: nothing is executed, but it is not forgotten that someone answered. */
function isLate(answer: PostAnswer): boolean {
  if (answer.kind === "settled") return answer.settlement.decision.kind === "closed";
  return answer.kind === "refused" && (answer.code === "run-ended" || answer.code === "ticket-expired");
}

async function keepLate(
  late: { readonly ticket: TicketRecord; readonly decision: OfferedDecision; readonly by: string },
  desk: Desk,
): Promise<void> {
  const { ticket, decision, by } = late;
  const body: JsonValue = { ticket: ticket.id, decision, by };
  await written(`Keeping a late decision on ${ticket.id}`, desk, () =>
    desk.store.addEvidence({ scope: desk.scope, run: ticket.run, kind: "late-decision", body }),
  );
}

/** Against the ToolSpec of the manifest that the run has: no code is needed here. */
async function checkEdit(ticket: TicketRecord, input: JsonValue, desk: Desk): Promise<void> {
  const key = { scope: desk.scope, run: ticket.run };
  const row = await desk.store.run(key);
  const manifest = row ? await readManifest((await loadState(key, desk.store)).state, desk.store) : undefined;
  const spec = manifest?.declared.tools.find((each) => each.name === ticket.call?.tool);
  if (!spec) throw notFound(ticket.id, desk);
  const problems = await desk.schemas.problems(spec.inputSchema, input);
  if (problems.length === 0) return;
  throw new HoldfastError("invalid-edit", `The edit of ticket ${ticket.id} does not fit tool ${spec.name}`, {
    problems,
  });
}

function shown({ decision, by, at }: SettlementRecord): Omit<Settlement, "mine"> {
  return { decision, by, at };
}

function notFound(id: string, desk: Desk): HoldfastError {
  return new HoldfastError("ticket-not-found", `There is no ticket ${id} in scope ${desk.scope}`, { details: { id } });
}

/**
 * One remote turn: ask the backend, note its task as soon as it is seen, say how it ended. Failures become values.
 *
 * X6 `startBy` is checked as the last statement before the call. Nothing is sent twice from here.
 * X7 Only an error of a backend says that nothing goes on there; whatever else is thrown is looked up, else unknown.
 */
import { backendError, bareText, isBackendError } from "../domain/backend/backend-error.ts";
import { readResult, readTask } from "../domain/backend/read-result.ts";
import { type RemoteTask, saidBy } from "../domain/backend/result.ts";
import { HoldfastError } from "../domain/errors.ts";
import { replyId } from "../domain/ids.ts";
import { messageOf, shortened } from "../domain/json.ts";
import { type Message, textOf } from "../domain/message.ts";
import { modelErrorOf } from "../domain/model-error.ts";
import type { RunState } from "../domain/run-state.ts";
import type { RemoteSight, RemoteTurn } from "../ports/backend.ts";
import { withContextMessages } from "./context.ts";
import type { BoundRemote } from "./deps.ts";
import { olderMessages } from "./older-messages.ts";
import { hasContent, readFiles } from "./send-files.ts";
import { settleWithin, wait } from "./settle-within.ts";
import type { Stage } from "./stage.ts";
import { slotValues, subjectOf } from "./turn-subject.ts";
import type { AbortOrder, Fact, LookOrder, Performance, TurnOrder, TurnOutcome } from "./work.ts";

interface Turning extends Performance<TurnOrder> {
  /** The task is to be committed while the turn goes on. */
  readonly seen: (fact: Fact) => void;
}

export async function performTurn(what: Turning, stage: Stage): Promise<Fact> {
  const { effect, attempt } = what.order;
  const outcome = await makeTurn(what, stage).catch(
    (cause: unknown): TurnOutcome => ({ kind: "unknown", why: messageOf(cause), decidableFrom: stage.storeNow() }),
  );
  return { kind: "turn-settled", effect, attempt, outcome };
}

async function makeTurn(what: Turning, stage: Stage): Promise<TurnOutcome> {
  const { order, controller } = what;
  const { remote } = stage.boundAgent;
  if (!remote) return { kind: "not-made" };
  const window = await windowOf(what, stage);
  if (window instanceof HoldfastError) return failure(window);
  if (stage.clock.monotonic() >= order.beginBy) return { kind: "not-made" }; // X6
  const began = stage.clock.monotonic();
  let task: RemoteTask | undefined = order.remote.task;
  const onTask = async (seen: RemoteTask): Promise<void> => {
    const read = readTask(seen);
    if (!read) throw backendError("backend-remote-error", "the id of its task cannot be read");
    await noteTask(what, read);
    task = read;
  };
  const turn = turnOf({ ...what, window }, onTask);
  const { backend } = remote;
  const made = turn.parent ? backend.executeDelegate(turn) : backend.executeRoot(turn);
  const within = await settleWithin(made, order.timeoutMs + stage.limits.graceMs, stage);
  const tookMs = Math.max(0, Math.round(stage.clock.monotonic() - began));
  if (within.kind === "value") return answered(within.value, tookMs, { ...what, stage });
  if (within.kind === "threw" && isBackendError(within.cause)) return failure(within.cause);
  const wasStopped = controller.signal.aborted;
  controller.abort(new HoldfastError("wait-aborted", `Nobody waits for turn ${order.remote.message} any more`));
  if (wasStopped) return { kind: "aborted" };
  if (within.kind === "timeout")
    return { kind: "result", result: { status: { kind: "timeout" }, ...(task ? { task } : {}) }, tookMs };
  return lookUp({ why: `it threw: ${messageOf(within.cause)}`, task, tookMs }, { ...what, stage }); // X7
}

type Doing = Turning & { readonly stage: Stage };

function answered(value: unknown, tookMs: number, { order, state, stage }: Doing): TurnOutcome {
  const read = readResult(value);
  if (!read.ok) return failure(backendError("backend-execution-failed", read.problem));
  const { response } = saidBy(read.result);
  if (response !== "" && !stage.hooks.has("output-gate")) tellWhole(response, order, { state, stage });
  return { kind: "result", result: read.result, tookMs };
}

/** Whoever watches reads the whole as one piece; what has to pass the output gate is told to nobody. */
function tellWhole(
  text: string,
  order: TurnOrder,
  { state, stage }: { readonly state: RunState; readonly stage: Stage },
): void {
  const { scope, run, thread } = state.created.identity;
  const place = { scope, run, thread, step: order.step, attempt: order.attempt };
  const live = stage.live.begin(place, replyId(run, order.step));
  live.write({ type: "text-delta", text });
  live.end();
}

function noteTask({ order, seen }: Turning, task: RemoteTask): Promise<void> {
  const { effect, attempt, remote } = order;
  return new Promise((resolve, reject) => {
    const told = (isKept: boolean): void =>
      isKept
        ? resolve()
        : reject(new HoldfastError("wait-aborted", `Another process has the run of turn ${remote.message}`));
    seen({ kind: "task-seen", effect, attempt, task, told });
  });
}

/** The conversation with bytes in the place of content, which the other side cannot read; or why it cannot be sent. */
async function windowOf({ controller, state }: Turning, stage: Stage): Promise<readonly Message[] | HoldfastError> {
  const window = stage.transcript.window();
  if (!hasContent(window)) return window;
  const description = { provider: "backend", model: stage.boundAgent.name };
  try {
    return await readFiles(window, { ...stage, description, older: olderMessages(state, stage) }, controller.signal);
  } catch (cause) {
    return modelErrorOf(cause);
  }
}

interface Told extends Turning {
  readonly window: readonly Message[];
}

function turnOf({ order, state, controller, window }: Told, onTask: RemoteTurn["onTask"]): RemoteTurn {
  const messages = withContextMessages(window, state.step?.context ?? [], state);
  const newMessages = newOf(window, state);
  const isFlat = order.remote.adapted?.includes("transcript") ?? false;
  return {
    ...subjectOf(state, order.remote),
    step: order.step,
    attempt: order.attempt,
    messages,
    newMessages,
    text: isFlat ? messages.map(flattened).join("\n\n") : newMessages.map(textOf).join("\n\n"),
    ...(order.remote.answers ? { answers: order.remote.answers } : {}),
    timeoutMs: order.timeoutMs,
    signal: controller.signal,
    onTask,
  };
}

function flattened(message: Message): string {
  return `${message.role}: ${textOf(message)}`;
}

/** Since the turn before. What was said in between is the other side's own. */
function newOf(window: readonly Message[], { appended, remote }: RunState): readonly Message[] {
  const count = appended - (remote?.sentBefore ?? 0);
  return count <= 0 ? [] : window.slice(-count).filter(({ role }) => role === "user" || role === "system");
}

function failure(error: HoldfastError): TurnOutcome {
  return { kind: "failed", error: { code: error.code, message: shortened(bareText(error)) }, retry: error.retry };
}

interface Lost {
  readonly why: string;
  readonly task: RemoteTask | undefined;
  readonly tookMs: number;
}

/** X7, of a turn of this process: it has settled, so "nothing" means nothing. */
async function lookUp({ why, task, tookMs }: Lost, { order, state, stage }: Doing): Promise<TurnOutcome> {
  const { remote } = stage.boundAgent;
  if (!remote) return { kind: "not-made" };
  const subject = { ...subjectOf(state, order.remote), ...(task ? { task } : {}) };
  const controller = new AbortController(); // the turn's own is used up
  stage.lost.addEventListener("abort", () => controller.abort(), { once: true });
  const sight = await lookOnce({ remote, subject, timeoutMs: order.timeoutMs, controller }, stage);
  if (sight.kind === "result") return answered(sight.result, tookMs, { order, state, stage } as Doing);
  if (sight.kind === "unknown")
    return { kind: "unknown", why: `${why}; ${sight.why}`, decidableFrom: stage.storeNow() };
  const error = { code: "backend-remote-error", message: shortened(`the other side has nothing of it (${why})`) };
  return { kind: "failed", error, retry: "later" };
}

interface Looking {
  readonly remote: BoundRemote;
  readonly subject: ReturnType<typeof subjectOf>;
  readonly timeoutMs: number;
  readonly controller: AbortController;
}

async function lookOnce({ remote, subject, timeoutMs, controller }: Looking, stage: Stage): Promise<RemoteSight> {
  const looked = remote.backend.look({ ...subject, timeoutMs, signal: controller.signal });
  const within = await settleWithin(looked, timeoutMs + stage.limits.graceMs, stage);
  if (within.kind === "value" && isSight(within.value)) return within.value;
  controller.abort();
  const why =
    within.kind === "threw" ? `looking it up threw: ${messageOf(within.cause)}` : "looking it up brought no answer";
  return { kind: "unknown", why: shortened(why) };
}

function isSight(value: unknown): value is RemoteSight {
  const { kind } = (value ?? {}) as Partial<RemoteSight>;
  return kind === "result" || kind === "absent" || kind === "unknown";
}

/** A lost turn, by the worker that found its intent. */
export async function performLook(what: Performance<LookOrder>, stage: Stage): Promise<Fact> {
  const { order } = what;
  const { effect, attempt } = order;
  const outcome = await lookUntilCertain(what, stage).catch(
    (cause: unknown): TurnOutcome => ({ kind: "unknown", why: messageOf(cause), decidableFrom: order.certainAt }),
  );
  return { kind: "turn-settled", effect, attempt, outcome };
}

/** Nobody looks on once the claim is over. */
async function lookUntilCertain(
  { order, state, controller }: Performance<LookOrder>,
  stage: Stage,
): Promise<TurnOutcome> {
  const { remote } = stage.boundAgent;
  const { certainAt, timeoutMs } = order;
  if (!remote || !state.remote) return { kind: "unknown", why: "its backend is not here", decidableFrom: certainAt };
  const { turn, task } = state.remote;
  const subject = { ...subjectOf(state, turn), ...(task ? { task } : {}) };
  for (;;) {
    const askedAt = stage.storeNow();
    const sight = await lookOnce({ remote, subject, timeoutMs, controller }, stage);
    const step = { order: { ...order, remote: turn, step: state.remote.step }, state, stage } as unknown as Doing;
    if (sight.kind === "result") return answered(sight.result, 0, step);
    if (sight.kind === "unknown") {
      const why = `its worker was lost between intent and settlement; ${sight.why}`;
      return { kind: "unknown", why, decidableFrom: certainAt };
    }
    if (askedAt >= certainAt) return { kind: "absent" };
    await wait(certainAt - stage.storeNow(), stage);
  }
}

export async function performAbort({ order, state, controller }: Performance<AbortOrder>, stage: Stage): Promise<Fact> {
  const { effect, attempt } = order;
  const { remote } = stage.boundAgent;
  const about = state.remote;
  const { agent, run } = state.created.identity;
  const fact = { kind: "abort-settled", effect, attempt } as const;
  if (!remote || !about) return { ...fact, problem: "its backend is not here" };
  const request = {
    ...subjectOf(state, about.turn),
    ...(about.task ? { task: about.task } : {}),
    state: slotValues(state),
    isContinuation: about.turn.answers !== undefined,
    signal: controller.signal,
  };
  const within = await settleWithin(remote.backend.abort(request), order.timeoutMs, stage);
  if (within.kind === "value") return fact;
  controller.abort();
  const problem = within.kind === "threw" ? messageOf(within.cause) : `no answer in ${order.timeoutMs} ms`;
  stage.logger.warn(`Run ${run}: the abort of its remote task failed: ${problem}`, { agent, run });
  return { ...fact, problem };
}

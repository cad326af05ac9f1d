/** Inputs of a running run: sent, withdrawn and edited through the outside door until they are read. */
import type { InputReceived, OutsideFact } from "../domain/entry.ts";
import { HoldfastError } from "../domain/errors.ts";
import type { InputId, RunId } from "../domain/ids.ts";
import type { Message } from "../domain/message.ts";
import { anyone, checkAct } from "./act-options.ts";
import type { Desk } from "./desk.ts";
import { keepContents } from "./given-files.ts";
import { post } from "./outside-door.ts";
import { readInput } from "./read-input.ts";
import { redactingErrors } from "./redacted-error.ts";
import type { ActOptions, SentInput, StartInput } from "./runtime.ts";

interface Sending {
  readonly run: RunId;
  readonly input: StartInput;
  readonly options: ActOptions;
  readonly replaces?: InputId;
}

export function sendInput(sending: Sending, desk: Desk): Promise<SentInput> {
  return redactingErrors(desk, () => send(sending, desk));
}

async function send(sending: Sending, desk: Desk): Promise<SentInput> {
  const { run, replaces } = sending;
  const { by = anyone, key = desk.ids.next() } = checkAct(sending.options, `Run ${run} cannot be given this input`);
  const { messages, contents } = readInput(sending.input, desk);
  const message = onlyMessage(messages, run);
  const input = `${run}.${key}` as InputId;
  const fact: InputReceived = {
    type: "input-received",
    input,
    message,
    by,
    ...(replaces === undefined ? {} : { replaces }),
  };
  await keepContents(contents, desk);
  await postSurely({ run, fact, key }, desk);
  return {
    id: input,
    async withdraw(options = {}) {
      const own = checkAct(options, `Input ${input} cannot be withdrawn like this`);
      const fact = { type: "input-withdrawn", input, by: own.by ?? anyone } as const;
      await postSurely({ run, fact, key: own.key ?? desk.ids.next() }, desk);
    },
    edit: (next, own = {}) => sendInput({ run, input: next, options: own, replaces: input }, desk),
  };
}

export function onlyMessage([message, ...more]: readonly Message[], run: RunId): Message {
  if (message && more.length === 0) return message;
  throw new HoldfastError("invalid-input", `Run ${run} is given one message at a time`, { details: { run } });
}

async function postSurely(
  what: { readonly run: RunId; readonly fact: OutsideFact; readonly key: string },
  desk: Desk,
): Promise<void> {
  const answer = await post({ scope: desk.scope, ...what }, desk);
  if (answer.kind !== "refused") return;
  throw new HoldfastError(answer.code, `${what.fact.type} of run ${what.run} was refused`, {
    details: { run: what.run },
  });
}

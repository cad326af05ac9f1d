/**
 * Cassette: a model that writes down what it was asked and what it said, or says it again without a network.
 *
 * V1 A replay gives the recorded parts, piece by piece, and never calls the model.
 * V2 Calls are matched by what the provider would see, not by their place: runs may go in parallel and in another order. The
 *    same request again gets the answers to it in the order in which they were asked for, then from the first on.
 * V3 A request that was not recorded fails the call, with the first field that differs and both values.
 * V4 Secrets are not written: requests, replies and errors go through redaction, and headers never come here.
 */
import { existsSync } from "node:fs";
import { HoldfastError } from "../../domain/errors.ts";
import { isFunction, Problems } from "../../domain/problems.ts";
import { type RedactOptions, type Redactor, readRedaction } from "../../domain/redaction.ts";
import type { Model, ModelPart, ModelRequest } from "../../ports/provider.ts";
import { nearestOf, showBoth } from "./diverge.ts";
import { errorEnd, errorOf, type RecordedEnd, recordedParts } from "./reply.ts";
import { type RecordedRequest, recordedRequest, sorted } from "./request.ts";
import { createTape, type RecordedCall, readTape, type Tape } from "./tape.ts";

export interface CassetteOptions {
  /** Where the recording is. */
  readonly file: string;
  /**
   * record: the model is asked, and a new recording takes the place of the old one. replay: only the recording answers. auto: replay
   * when there is a recording, record when there is none; unless said.
   */
  readonly mode?: "record" | "replay" | "auto";
  /** What is taken out before anything is written or compared; keys, tokens and private keys unless said. */
  readonly redact?: RedactOptions;
}

const secrets: RedactOptions = { detectors: ["api-key", "bearer-token", "private-key"] };

export function cassette(model: Model, options: CassetteOptions): Model {
  const problems = new Problems(options, ["file", "mode", "redact"]);
  problems.check("file", (file) => typeof file === "string" && file !== "", "must be the path of a file");
  problems.oneOf("mode", ["record", "replay", "auto"]);
  const redactor = readRedaction(options?.redact ?? secrets, problems);
  if (!isFunction(model?.call) || !model.description) problems.add("model: must be a model that can be called");
  problems.refuse("invalid-options", "The cassette cannot be made");
  const { file, mode = "auto" } = options;
  const isReplay = mode === "replay" || (mode === "auto" && existsSync(file));
  return isReplay ? replaying(model, file, redactor) : recording(model, createTape(file), redactor);
}

function recording(model: Model, tape: Tape, redactor: Redactor): Model {
  let calls = 0;
  return {
    ...described(model),
    async *call(request, signal) {
      signal.throwIfAborted();
      tape.checkOwner();
      calls += 1;
      const take = beginTake({ call: calls, model, request, tape, redactor });
      // A model that is deaf would never let this function go on.
      const aborted = (): void => void take.end({ kind: "aborted" }).catch(() => undefined);
      signal.addEventListener("abort", aborted, { once: true });
      let end: RecordedEnd = { kind: "aborted" }; // by a reader that leaves, unless something else comes first
      try {
        for await (const part of model.call(request, signal)) {
          take.parts.push(part);
          if (part?.type === "finish") end = { kind: "done" };
          yield part;
        }
        end = { kind: "done" };
      } catch (cause) {
        end = errorEnd(cause, redactor);
        throw cause;
      } finally {
        signal.removeEventListener("abort", aborted);
        await take.end(end);
      }
    },
  };
}

/** It stands for the model, and takes what that takes. */
function described(model: Model): Pick<Model, "description" | "problemsWith"> {
  const { description } = model;
  return { description, problemsWith: (asked) => model.problemsWith?.(asked) ?? [] };
}

interface Take {
  readonly parts: ModelPart[];
  /** Writes it down; only the first end counts, and each caller hears how the writing went. */
  end(how: RecordedEnd): Promise<void>;
}

interface Beginning {
  readonly call: number;
  readonly model: Model;
  readonly request: ModelRequest;
  readonly tape: Tape;
  readonly redactor: Redactor;
}

function beginTake({ call, model, request, tape, redactor }: Beginning): Take {
  const { agent, step } = request;
  const recorded = recordedRequest(request, model.description, redactor);
  const parts: ModelPart[] = [];
  let written: Promise<void> | undefined;
  return {
    parts,
    end(how) {
      written ??= tape.write({ call, agent, step, request: recorded, reply: recordedParts(parts, redactor), end: how });
      return written;
    },
  };
}

function replaying(model: Model, file: string, redactor: Redactor): Model {
  const calls = readTape(file);
  const answers = new Map<string, RecordedCall[]>();
  for (const call of calls) {
    const key = keyOf(call.request);
    answers.set(key, [...(answers.get(key) ?? []), call]);
  }
  return {
    ...described(model),
    async *call(request, signal) {
      signal.throwIfAborted();
      const asked = recordedRequest(request, model.description, redactor);
      const queue = answers.get(keyOf(asked));
      const next = queue?.shift();
      if (!next) throw diverged({ asked, request, calls, file });
      queue?.push(next); // V2
      yield* play(next, signal);
    },
  };
}

async function* play({ reply, end }: RecordedCall, signal: AbortSignal): AsyncGenerator<ModelPart> {
  for (const part of reply) {
    signal.throwIfAborted();
    yield part;
  }
  if (end.kind === "error") throw errorOf(end);
  if (end.kind === "aborted") await abortOf(signal);
}

/** It hung then, and it hangs now, until somebody gives up. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function keyOf(request: RecordedRequest): string {
  return JSON.stringify(sorted(request as never));
}

interface Unmatched {
  readonly asked: RecordedRequest;
  readonly request: ModelRequest;
  readonly calls: readonly RecordedCall[];
  readonly file: string;
}

/** V3. */
function diverged({ asked, request, calls, file }: Unmatched): HoldfastError {
  const { agent, step } = request;
  const nearest = nearestOf(asked, calls, request);
  const where = nearest
    ? `${nearest.path} differs from call ${nearest.call.call} (agent ${nearest.call.agent}, step ${nearest.call.step}): ${showBoth(nearest)}`
    : "it has no calls at all";
  return new HoldfastError(
    "cassette-diverged",
    `Step ${step} of agent ${agent} asks what the cassette ${file} has no answer to: ${where}. If the change is meant, record again with mode "record"; if not, undo it`,
    nearest
      ? { details: { path: nearest.path, recorded: nearest.recorded, now: nearest.now, call: nearest.call.call } }
      : {},
  );
}

/** tracing: a run as one OpenTelemetry trace, over every process it goes through. It only looks. */
import { type Context, type Tracer, trace } from "@opentelemetry/api";
import { messageOf } from "../../domain/json.ts";
import {
  type ConfiguredPlugin,
  type Hook,
  type HookAnswer,
  type PluginInstance,
  type PluginRun,
  plugin,
} from "../../domain/plugin.ts";
import { isFunction } from "../../domain/problems.ts";
import { configSchema } from "../shared/config-schema.ts";
import { commonOf } from "./attributes.ts";
import { RunTrace } from "./run-trace.ts";
import { createSpanOpener } from "./spans.ts";
import { readTraceparent, traceparent } from "./trace-context.ts";

export interface TracingOptions {
  /** Makes the spans; the one that is registered globally, as `holdfast`, unless said. */
  readonly tracer?: Tracer;
  /** Puts messages, inputs, results and what errors say into spans. Off unless said. */
  readonly content?: boolean;
  /** The W3C `traceparent` that a run hangs under: of the request that started it, for example. None unless said. */
  readonly parent?: (run: PluginRun) => string | undefined;
}

const schema = configSchema<TracingOptions, TracingOptions>({
  known: ["tracer", "content", "parent"],
  read(options, problems) {
    problems.optional("tracer", isTracer, "must be an OpenTelemetry tracer, with a function startSpan");
    problems.optional("content", (value) => typeof value === "boolean", "must be true or false");
    problems.optional("parent", isFunction, "must be a function of the run");
    return options;
  },
});

function isTracer(value: unknown): boolean {
  return isFunction((value as Partial<Tracer> | null)?.startSpan);
}

const factory = plugin({ name: "tracing", config: schema, state: [traceparent], create });

export function tracing(options: TracingOptions = {}): ConfiguredPlugin {
  return factory(options);
}

function create({ tracer, content = false, parent }: TracingOptions, run: PluginRun): PluginInstance<TracingOptions> {
  const { safely, note } = guard(run);
  const open = createSpanOpener(() => tracer ?? trace.getTracer("holdfast"), commonOf(run));
  const runTrace = new RunTrace({
    run,
    open,
    content: content ? run.redact : undefined,
    parent: () => parentOf(run, parent, note),
  });
  function look<View>(what: (spans: RunTrace, view: View) => HookAnswer): Hook<View> {
    return (view) => safely(() => what(runTrace, view));
  }
  return {
    hooks: {
      "before-run": look((spans, view) => spans.begin(view)),
      "before-step": look((spans, view) => spans.beginStep(view)),
      "model-delta": look((spans, view) => spans.takePiece(view)),
      "after-model": look((spans, view) => spans.takeReply(view)),
      "before-tool": look((spans, view) => spans.beginCall(view)),
      "after-tool": look((spans, view) => spans.endCall(view)),
      "after-step": look((spans, view) => spans.endStep(view)),
      "on-decision": look((spans, view) => spans.takeDecision(view)),
      "on-cancel": look((spans, view) => spans.takeCancel(view)),
      "after-run": look((spans, view) => spans.end(view)),
    },
    close: () => safely(() => runTrace.leave()),
  };
}

interface Guard {
  /** A hook that throws would fail the run; a tracer that throws must not. */
  readonly safely: <Answer>(what: () => Answer) => Answer | undefined;
  readonly note: (problem: string) => void;
}

/** Said once for each process of a run, however often it happens. */
function guard(run: PluginRun): Guard {
  let isNoted = false;
  function note(problem: string): void {
    if (!isNoted) run.log(`Tracing lacks something of run ${run.id}: ${problem}`);
    isNoted = true;
  }
  return {
    note,
    safely(what) {
      try {
        return what();
      } catch (cause) {
        note(messageOf(cause));
        return undefined;
      }
    },
  };
}

/** A parent that cannot be read costs the run its parent, not its trace. */
function parentOf(run: PluginRun, parent: TracingOptions["parent"], note: Guard["note"]): Context | undefined {
  try {
    const given = parent?.(run);
    const context = given === undefined ? undefined : readTraceparent(given);
    if (given !== undefined && !context) note(`the parent ${JSON.stringify(given)} is no traceparent`);
    return context;
  } catch (cause) {
    note(`finding its parent failed: ${messageOf(cause)}`);
    return undefined;
  }
}

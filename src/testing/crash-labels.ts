/** What the crash kit calls a port call, and how it makes one fail. */
import { HoldfastError } from "../domain/errors.ts";
import { isPhase, type Phase } from "../domain/phase.ts";
import type { CallPhaseView } from "../domain/plugin.ts";
import type { ToolContext } from "../domain/tool.ts";
import { phaseTable } from "../engine/phases.ts";
import type { JudgedCall } from "../ports/tool-runner.ts";
import type { PortCall } from "./intercept.ts";

/** `store.commit`, `tool.execute refund 1.0`, `plugin.after-tool keeper 1.0`: the same in every play of a scenario. */
export function labelOf(call: PortCall): string {
  const name = `${call.port}.${call.method}`;
  if (call.port === "plugin") return pluginLabel(call);
  if (call.port !== "tool") return name;
  if (call.method === "judge") return `${name} ${(call.args[0] as JudgedCall).tool}`;
  const tool = String(call.args[0]);
  if (call.method !== "execute") return `${name} ${tool}`;
  const { callId, runId } = call.args[2] as ToolContext;
  return `${name} ${tool} ${callId.slice(runId.length + 1)}`;
}

function pluginLabel({ method, args }: PortCall): string {
  if (method === "create") return "plugin.create";
  const [plugin, view] = args as [string, Partial<CallPhaseView>];
  const [phase, ...answer] = method.split(" ");
  const { run, call } = view;
  const subject = call && run ? [call.id.slice(run.id.length + 1)] : [];
  return [`plugin.${phase}`, plugin, ...subject, ...answer].join(" ");
}

export function isUserCode(label: string): boolean {
  return label.startsWith("tool.") || label.startsWith("plugin.") || label.startsWith("output.");
}

/** What it throws is an answer of its own; of every other call an error must change nothing. */
export function isAnswer(label: string): boolean {
  if (label.startsWith("tool.") || label.startsWith("output.")) return true;
  const phase = phaseIn(label);
  return label.startsWith("plugin.") && !isCreate(label) && (!phase || phaseTable[phase].kind !== "observing");
}

/** Nobody can work on the run until somebody says that its plugin is mended. */
export function isCreate(label: string): boolean {
  return label.startsWith("plugin.create");
}

function phaseIn(label: string): Phase | undefined {
  const [name = ""] = label.slice("plugin.".length).split(" ");
  return isPhase(name) ? name : undefined;
}

export function failureOf(call: PortCall): Error {
  const label = labelOf(call);
  switch (call.port) {
    case "store":
      return new HoldfastError("store-unavailable", `The crash kit made ${label} fail`);
    case "model": // of what breaks off something may be kept (Y1, Y2), and every cut would come to something else
      return new HoldfastError("model-malformed", `The crash kit made ${label} fail`);
    default:
      return new Error(`The crash kit made ${label} fail`);
  }
}

export function unknown(call: PortCall): HoldfastError {
  return new HoldfastError("commit-unknown", `The crash kit hid the outcome of ${labelOf(call)}`);
}

/** The options of plugin(), and of what its `create` answers. */
import { z } from "zod";
import { type Phase, phases } from "../../../src/domain/phase.ts";
import type { StandardSchema } from "../../../src/domain/standard-schema.ts";
import { type PhaseView, type PluginInstance, type PluginOptions, plugin } from "../../../src/index.ts";
import { callsTool, says } from "../../../src/testing/story.ts";
import { ask, count, look } from "./pieces.ts";
import { answerAll, declaredRow, type Play, type Row, type Rows, row } from "./told.ts";

type Options = Partial<PluginOptions<StandardSchema>>;

/** Says what its config is. */
const speaking: Options = {
  create: (config) => ({
    hooks: { "before-step": () => ({ type: "add-context", key: "config", text: `Config: ${JSON.stringify(config)}` }) },
  }),
};
const counting: Options = { create: () => ({ hooks: { "before-step": () => count.update(1) } }) };

function used(options: Options): Play {
  const made = plugin({ name: "used", ...options } as PluginOptions<StandardSchema>);
  const answers = [callsTool("look", { at: 1 }), says("Done.")];
  return { agent: { plugins: [made()] }, answers };
}

function instance(made: PluginInstance): Play {
  const play = used({ create: () => made });
  return { ...play, agent: { ...play.agent, tools: [look] } };
}

/** Notes when it was left. */
function closing(isClosing: boolean): Play {
  const notes: string[] = [];
  const close = (): void => {
    notes.push("closed");
  };
  return { ...instance(isClosing ? { close } : {}), notes };
}

/** A story that meets every phase; a hook of it is noted, whatever it may say. */
function hooked(phase: Phase, isHooked: boolean): Play {
  const notes: string[] = [];
  const hook = (view: PhaseView): void => {
    if (notes.length === 0) notes.push(view.phase);
  };
  const play = used({ create: () => ({ hooks: isHooked ? { [phase]: hook } : {} }) });
  const reply = { calls: [{ tool: "ask" }], text: "I shall ask.", pieces: 4 };
  const again = { calls: [{ tool: "ask" }] };
  return {
    agent: { ...play.agent, tools: [ask] },
    answers: phase === "on-cancel" ? [reply, again] : [reply, says("Done.")],
    notes,
    during: async (story, run) => {
      await story.expectWaitingFor(run, "ask");
      if (phase === "on-cancel") await run.cancel();
      await answerAll(story, run);
    },
  };
}

function hookRow(phase: Phase): Row {
  return row((isHooked: boolean) => hooked(phase, isHooked), false, true);
}

const shout: PluginInstance = {
  transform: (request) => ({ ...request, instructions: request.instructions.toUpperCase() }),
};
const deny: PluginInstance = { policy: { "tool-call": () => ({ deny: "No." }) } };
const words = z.object({ word: z.string().default("hello") });

export const pluginRows: Rows = {
  "plugin.name": row(used, speaking, { ...speaking, name: "another" }),
  "plugin.version": declaredRow(used, speaking, { ...speaking, version: "2" }),
  "plugin.config": row(used, speaking, { ...speaking, config: words }),
  "plugin.requires": row(used, speaking, { ...speaking, requires: ["another"] }),
  "plugin.state": row(used, counting, { ...counting, state: [count] }),
  "plugin.tools": row(used, {}, { tools: [look] }),
  "plugin.context": row(used, {}, { context: [{ key: "a", text: "Be brief." }] }),
  "plugin.create": row(used, {}, speaking),
  "instance.hooks": row(instance, {}, { hooks: { "tool-gate": () => ({ type: "deny", reason: "No." }) } }),
  ...Object.fromEntries(phases.map((phase) => [`instance.hooks.${phase}`, hookRow(phase)])),
  "instance.policy": row(instance, {}, deny),
  "instance.policy.tool-call": row(instance, { policy: {} }, deny),
  "instance.transform": row(instance, {}, shout),
  "instance.close": row(closing, false, true),
};

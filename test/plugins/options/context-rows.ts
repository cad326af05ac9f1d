/** The fields of a context message: of a plugin's own, and of the command add-context. */
import { type ContextMessage, plugin } from "../../../src/index.ts";
import { callsTool, says } from "../../../src/testing/story.ts";
import { hooking, look } from "./pieces.ts";
import { type Play, type Rows, row } from "./told.ts";

const first: ContextMessage = { key: "first", text: "The first word." };
const second: ContextMessage = { key: "second", text: "The second word." };
const answers = [1, 2, 3, 4].map((at) => callsTool("look", { at }));

function told(plugins: NonNullable<Play["agent"]>["plugins"] & {}): Play {
  return { agent: { tools: [look], plugins }, answers: [...answers, says("Done.")], isOnlyAsked: true };
}

/** Beside another one, in the first steps only. */
function said(message: Partial<ContextMessage>): Play {
  const command = { type: "add-context", ...first, ...message } as const;
  const hook = ({ step }: { readonly step: number }) =>
    step > 2 ? [] : [{ type: "add-context", ...second } as const, command];
  return told([hooking({ "before-step": hook })]);
}

function always(message: Partial<ContextMessage>): Play {
  return told([plugin({ name: "always", context: [second, { ...first, ...message }] })()]);
}

const cooldown = 2;

export const contextRows: Rows = {
  "add-context.key": row(said, {}, { key: "second" }),
  "add-context.text": row(said, {}, { text: "Another word." }),
  "add-context.target": row(said, {}, { target: "suffix" }),
  "add-context.priority": row(said, {}, { priority: 1 }),
  "add-context.cooldown": row(said, {}, { cooldown: 1 }),
  "add-context.persistent": row(said, {}, { persistent: true }),
  "add-context.consumeOnce": row(said, { cooldown }, { cooldown, consumeOnce: true }),
  "context.key": row(always, {}, { key: "second" }),
  "context.text": row(always, {}, { text: "Another word." }),
  "context.target": row(always, {}, { target: "suffix" }),
  "context.priority": row(always, {}, { priority: 1 }),
  "context.cooldown": row(always, {}, { cooldown: 1 }),
  "context.persistent": row(always, {}, { persistent: false }),
  "context.consumeOnce": row(always, {}, { consumeOnce: true }),
};

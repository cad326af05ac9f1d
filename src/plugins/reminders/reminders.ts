/**
 * reminders: words for the model that follow from what a tool has just done.
 *
 * A rule looks at the call as it was run and at its result, and says its message at the next model call. It is no message
 * of the thread: it is said once and gone, unless the rule comes true again.
 */
import type { AddContext } from "../../domain/command.ts";
import { type CallView, type ConfiguredPlugin, plugin } from "../../domain/plugin.ts";
import { type RemindersOptions, type Rule, rulesSchema } from "./config.ts";

export const reminders: (options: RemindersOptions) => ConfiguredPlugin = plugin({
  name: "reminders",
  version: "1",
  config: rulesSchema,
  create: (rules) => ({
    hooks: {
      "after-tool": ({ call }) => rules.filter((rule) => isTrue(rule, call)).map(reminderOf),
    },
  }),
});

function isTrue({ tool, output }: Rule, call: CallView): boolean {
  return call.result !== undefined && tool.matches(call.tool, call.input) && output(call.result);
}

function reminderOf({ name, message }: Rule): AddContext {
  return { type: "add-context", key: name, ...message };
}

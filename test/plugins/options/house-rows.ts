/** The options of the plugins of the house. */
import {
  type PermissionsOptions,
  permissions,
  type ReminderRule,
  reminders,
  type StopConditionsOptions,
  stopConditions,
} from "../../../src/plugins.ts";
import type { ScriptedAnswer } from "../../../src/providers/scripted.ts";
import { callsTool, says } from "../../../src/testing/story.ts";
import { look } from "./pieces.ts";
import { answerAll, type Play, type Rows, row } from "./told.ts";

const looks = [1, 2, 1].map((at) => callsTool("look", { at }));

function looking(plugins: NonNullable<Play["agent"]>["plugins"] & {}, answers: readonly ScriptedAnswer[]): Play {
  return { agent: { tools: [look], plugins }, answers: [...answers, says("Done.")] };
}

/** Whatever is asked is approved ten seconds later, with a wish to have it remembered. */
function permitted(options: PermissionsOptions | undefined, wish: object = { remember: "run", what: "tool" }): Play {
  return {
    ...looking([permissions(options)], looks),
    during: async (story, run) => {
      for (;;) {
        const idle = await run.idle();
        const [ticket] = idle.status === "waiting" ? idle.tickets : [];
        if (ticket?.kind !== "approval") return;
        await story.pass(10_000);
        await ticket.approve({ by: "ana", value: wish as never });
      }
    },
  };
}

const permit = (options: PermissionsOptions | undefined): Play => permitted(options);
const forLong = (options: PermissionsOptions): Play =>
  permitted(options, { remember: "run", what: "tool", forMs: 60_001 });
const allow = { tool: "look", behavior: "allow" } as const;
const asked = { tool: "look", behavior: "ask" } as const;

const permissionRows: Rows = {
  "permissions.default": row(permit, undefined, { default: "deny" }),
  "permissions.rules": row(permit, undefined, { rules: [allow] }),
  "permissions.rules[].tool": row(permit, { rules: [allow] }, { rules: [{ ...allow, tool: 'look(at = "1")' }] }),
  "permissions.rules[].behavior": row(permit, { rules: [allow] }, { rules: [{ ...allow, behavior: "deny" }] }),
  "permissions.rules[].reason": row(permit, { rules: [asked] }, { rules: [{ ...asked, reason: "Why?" }] }),
  "permissions.remember": row(permit, undefined, { remember: {} }),
  "permissions.remember.scopes": row(permit, { remember: {} }, { remember: { scopes: ["thread"] } }),
  "permissions.remember.what": row(permit, { remember: {} }, { remember: { what: ["input"] } }),
  "permissions.remember.maxMs": row(forLong, { remember: {} }, { remember: { maxMs: 60_000 } }),
  "permissions.remember.defaultMs": row(permit, { remember: {} }, { remember: { defaultMs: 5_000 } }),
};

const rule: ReminderRule = { name: "rule", tool: "look", message: { text: "Mind the gap." } };

/** Three looks and one that finds nothing, beside another rule. */
function reminded(...rules: readonly ReminderRule[]): Play {
  const other: ReminderRule = { name: "other", tool: "look", message: { text: "Be brief." } };
  return looking([reminders({ rules: [other, ...rules] })], [...looks, callsTool("look", { at: -1 })]);
}

const remind = (more: Partial<ReminderRule>): Play => reminded({ ...rule, ...more });
const message = (more: object): Play => ({ ...remind({ message: { ...rule.message, ...more } }), isOnlyAsked: true });
const output = (more: object): Play => remind({ output: { fields: [{ path: "saw", op: "=", value: "1" }], ...more } });
const field = (more: object): Play => output({ fields: [{ path: "saw", op: "=", value: "1", ...more }] });

const reminderRows: Rows = {
  "reminders.rules": row((rules: readonly ReminderRule[]) => reminded(...rules), [], [rule]),
  "reminders.rules[].name": row(remind, {}, { name: "another" }),
  "reminders.rules[].tool": row(remind, {}, { tool: 'look(at = "2")' }),
  "reminders.rules[].output": row(remind, {}, { output: { status: "error" } }),
  "reminders.rules[].output.status": row(
    output,
    { fields: undefined, content: "*" },
    { fields: undefined, status: "error" },
  ),
  "reminders.rules[].output.content": row(output, {}, { content: "*saw*2*" }),
  "reminders.rules[].output.fields": row(output, { fields: undefined, status: "value" }, {}),
  "reminders.rules[].output.fields[].path": row(field, {}, { path: "heard" }),
  "reminders.rules[].output.fields[].op": row(field, {}, { op: "!=" }),
  "reminders.rules[].output.fields[].value": row(field, {}, { value: "2" }),
  "reminders.rules[].message": row(remind, {}, { message: { text: "Otherwise." } }),
  "reminders.rules[].message.text": row(message, {}, { text: "Otherwise." }),
  "reminders.rules[].message.target": row(message, {}, { target: "suffix" }),
  "reminders.rules[].message.cooldown": row(message, {}, { cooldown: 1 }),
  "reminders.rules[].message.priority": row(message, {}, { priority: -1 }),
};

function stopping(options: StopConditionsOptions): Play {
  const failing = [callsTool("look", { at: -1 }), callsTool("look", { at: -1 })];
  return looking([stopConditions(options)], [{ ...(looks[0] as object), text: "ONE MOMENT" }, ...looks, ...failing]);
}

/** A minute between two steps. */
function slowly(options: StopConditionsOptions): Play {
  return {
    agent: { tools: [{ ...look, spec: { ...look.spec, gate: "always" } }], plugins: [stopConditions(options)] },
    answers: [...looks, says("Done.")],
    during: async (story, run) => {
      for (;;) {
        const idle = await run.idle();
        const [ticket] = idle.status === "waiting" ? idle.tickets : [];
        if (ticket?.kind !== "approval") return answerAll(story, run);
        await story.pass(60_000);
        await ticket.approve();
      }
    },
  };
}

const loop = { calls: 3, window: 4 };

const stopRows: Rows = {
  "stopConditions.steps": row(stopping, {}, { steps: 2 }),
  "stopConditions.wallTimeMs": row(slowly, {}, { wallTimeMs: 90_000 }),
  "stopConditions.tokens": row(stopping, {}, { tokens: 5 }),
  "stopConditions.consecutiveErrors": row(stopping, {}, { consecutiveErrors: 2 }),
  "stopConditions.onTool": row(stopping, {}, { onTool: ["look"] }),
  "stopConditions.onText": row(stopping, {}, { onText: "MOMENT" }),
  "stopConditions.onText.regex": row(stopping, { onText: { regex: "^MOMENT" } }, { onText: { regex: "MOMENT$" } }),
  "stopConditions.loop": row(stopping, {}, { loop }),
  "stopConditions.loop.calls": row(stopping, { loop }, { loop: { ...loop, calls: 2 } }),
  "stopConditions.loop.window": row(stopping, { loop }, { loop: { ...loop, window: 3 } }),
  "stopConditions.custom": row(stopping, {}, { custom: ({ step }) => (step > 1 ? { code: "mine" } : undefined) }),
};

export const houseRows: Rows = { ...permissionRows, ...reminderRows, ...stopRows };

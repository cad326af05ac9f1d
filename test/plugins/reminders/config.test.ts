/** Nothing that parses is without effect, and whatever is wrong is named with its place. */
import { expect, test } from "vitest";
import { agent, isHoldfastError } from "../../../src/index.ts";
import { type RemindersOptions, reminders } from "../../../src/plugins.ts";
import { scripted } from "../../../src/providers/scripted.ts";
import { callsTool } from "../../../src/testing/story.ts";
import { play, rule, saying, told } from "./stories.ts";

function refusalOf(options: unknown): string {
  try {
    const plugins = [reminders(options as RemindersOptions)];
    agent({ name: "clerk", model: scripted([]), instructions: "Work.", plugins });
  } catch (error) {
    if (isHoldfastError(error, "invalid-agent")) return `${error.message}\n${error.problems.join("\n")}`;
    throw error;
  }
  return "";
}

const withRule = (more: object): unknown => ({ rules: [rule(), { ...rule({ name: "second" }), ...more }] });
const withOutput = (output: unknown): unknown => withRule({ output });
const withMessage = (message: unknown): unknown => withRule({ message });

const wrong: readonly (readonly [field: string, options: unknown])[] = [
  ["rules", {}],
  ["rules", { rules: [] }],
  ["rules", { rules: {} }],
  ["rules", { rules: Array.from({ length: 101 }, (_, index) => rule({ name: `rule ${index}` })) }],
  ["rule", { rules: [rule()], rule: 1 }],
  ["rules[0].", { rules: ["write_file"] }],
  ["rules[0].", { rules: [null] }],
  ["rules[1].name", withRule({ name: "" })],
  ["rules[1].name", withRule({ name: undefined })],
  ["rules[1].name", withRule({ name: 5 })],
  ["rules[1].name", withRule({ name: "tests" })],
  ["rules[1].tool", withRule({ tool: undefined })],
  ["rules[1].tool", withRule({ tool: "" })],
  ["rules[1].tool", withRule({ tool: "write file" })],
  ["rules[1].tool", withRule({ tool: "/(/" })],
  ["rules[1].tool", withRule({ tool: 'write_file(path == "a")' })],
  ["rules[1].when", withRule({ when: "always" })],
  ["rules[1].output", withOutput("all")],
  ["rules[1].output", withOutput(null)],
  ["rules[1].output", withOutput([])],
  ["rules[1].output.status", withOutput({})],
  ["rules[1].output.status", withOutput({ status: "success" })],
  ["rules[1].output.text", withOutput({ text: "*" })],
  ["rules[1].output.content", withOutput({ content: "" })],
  ["rules[1].output.content", withOutput({ content: /warning/ })],
  ["rules[1].output.fields", withOutput({ fields: [] })],
  ["rules[1].output.fields", withOutput({ fields: {} })],
  ["rules[1].output.fields", withOutput({ status: "error", fields: [{ path: "a", op: "=", value: "b" }] })],
  ["rules[1].output.fields[0]", withOutput({ fields: [null] })],
  ["rules[1].output.fields[0]: path", withOutput({ fields: [{ op: "=", value: "b" }] })],
  ["rules[1].output.fields[0]: op", withOutput({ fields: [{ path: "a", op: "==", value: "b" }] })],
  ["rules[1].output.fields[0]: value", withOutput({ fields: [{ path: "a", op: "=", value: 5 }] })],
  ["rules[1].output.fields[0]: value", withOutput({ fields: [{ path: "a", op: "=~", value: "(" }] })],
  ["rules[1].output.fields[0]: is", withOutput({ fields: [{ path: "a", op: "=", value: "b", is: 1 }] })],
  ["rules[1].message", withMessage("Remember.")],
  ["rules[1].message.text", withMessage({})],
  ["rules[1].message.text", withMessage({ text: "" })],
  ["rules[1].message.text", withMessage({ text: "x".repeat(20_000) })],
  ["rules[1].message.target", withMessage({ text: told, target: "user" })],
  ["rules[1].message.cooldown", withMessage({ text: told, cooldown: -1 })],
  ["rules[1].message.cooldown", withMessage({ text: told, cooldown: "1" })],
  ["rules[1].message.priority", withMessage({ text: told, priority: 0.5 })],
  ["rules[1].message.persistent", withMessage({ text: told, persistent: true })],
  ["options", 5],
];

test.each(wrong)("%s is refused by agent, plugin and field", (field, options) => {
  const refusal = refusalOf(options);
  expect(refusal).toContain('"clerk"');
  expect(refusal).toContain("plugins[0]: the config of reminders does not fit");
  expect(refusal).toContain(`$: ${field}`);
});

test("every problem of every rule is named at once", () => {
  const first = {
    name: "",
    tool: "",
    output: { status: 1, fields: [] },
    message: { target: 1, cooldown: -1 },
    more: 1,
  };
  const refusal = refusalOf({ rules: [first, rule({ tool: "(" })] });
  for (const field of ["name", "tool", "output.status", "output.fields", "message.text", "message.target", "more"]) {
    expect(refusal).toContain(`$: rules[0].${field}: `);
  }
  expect(refusal).toContain("$: rules[0].message.cooldown: ");
  expect(refusal).toContain("$: rules[1].tool: ");
});

test("options that are undefined are absent", async () => {
  const loose = { ...rule(), output: undefined, message: { text: told, target: undefined, cooldown: undefined } };
  const { saidIn } = await play([loose as never], callsTool("write_file", { path: "a" }));
  expect(saidIn).toEqual([2]);
});

test.each([
  rule({ name: "other" }),
  rule({ tool: "read_file" }),
  rule({ output: { status: "error" } }),
  rule({ output: { content: "no" } }),
  rule({ output: { fields: [{ path: "no", op: "=", value: "no" }] } }),
  saying({ text: "Other words" }),
  saying({ target: "suffix" }),
  saying({ cooldown: 3 }),
  saying({ priority: 3 }),
])("a changed option makes another journal: %j", async (changed) => {
  const writing = callsTool("write_file", { path: "a" });
  const commandsOf = async (each: typeof changed) =>
    (await play([each], writing)).journal.flatMap((entry) => (entry.type === "command-applied" ? entry.commands : []));
  expect(await commandsOf(changed)).not.toEqual(await commandsOf(rule()));
});

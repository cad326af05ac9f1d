/** Every option is read: the same story with another option has another journal. */
import { expect, test } from "vitest";
import type { PermissionsOptions } from "../../../src/plugins.ts";
import { ada, approveWith, aStoryOf, bob, told } from "./setting.ts";

/** Pays twice; whatever is asked is approved with the wish, ten seconds after it was asked. */
async function journalOf(options: PermissionsOptions | undefined, wish?: object): Promise<readonly string[]> {
  await using story = await aStoryOf(options, [
    ["pay", ada],
    ["pay", bob],
    ["pay", ada],
  ]);
  const run = await story.userSays("go", { thread: "t-1" });
  while ((await run.idle()).status === "waiting") {
    await story.pass(10_000);
    await approveWith(story, run, wish as never);
  }
  await story.expectReply(run, "Done.");
  return told(await story.journal(run));
}

const allowPay = { rules: [{ tool: "pay", behavior: "allow" }] } as const;
const toolOfRun = { remember: "run", what: "tool" };

interface Row {
  readonly option: string;
  readonly base?: PermissionsOptions;
  readonly changed: PermissionsOptions;
  readonly wish?: object;
}

const remember = {};
const ask = { tool: "pay", behavior: "ask" } as const;
const rows: readonly Row[] = [
  { option: "default: allow", changed: { default: "allow" } },
  { option: "default: deny", changed: { default: "deny" } },
  { option: "rules", changed: allowPay },
  { option: "rules.tool", base: allowPay, changed: { rules: [{ tool: 'pay(to = "ada")', behavior: "allow" }] } },
  { option: "rules.behavior: ask", base: allowPay, changed: { rules: [ask] } },
  { option: "rules.behavior: deny", base: allowPay, changed: { rules: [{ tool: "pay", behavior: "deny" }] } },
  { option: "rules.reason", base: { rules: [ask] }, changed: { rules: [{ ...ask, reason: "why" }] } },
  { option: "remember", changed: { remember }, wish: toolOfRun },
  { option: "remember.scopes", base: { remember }, changed: { remember: { scopes: ["thread"] } }, wish: toolOfRun },
  { option: "remember.what", base: { remember }, changed: { remember: { what: ["input"] } }, wish: toolOfRun },
  {
    option: "remember.maxMs",
    base: { remember },
    changed: { remember: { maxMs: 60_000 } },
    wish: { ...toolOfRun, forMs: 60_001 },
  },
  { option: "remember.defaultMs", base: { remember }, changed: { remember: { defaultMs: 5_000 } }, wish: toolOfRun },
];

test.each(rows)("$option", async ({ base, changed, wish }) => {
  const first = await journalOf(base, wish);
  expect(await journalOf(base, wish)).toEqual(first);
  expect(await journalOf(changed, wish)).not.toEqual(first);
});

test("the defaults are what they say: saying them changes nothing", async () => {
  const said: PermissionsOptions = { default: "ask", rules: [] };
  expect(await journalOf(said)).toEqual(await journalOf(undefined));
  const all = { scopes: ["run"], what: ["tool", "input"], maxMs: 86_400_000, defaultMs: 3_600_000 } as const;
  const wish = { remember: "run" };
  expect(await journalOf({ remember: all }, wish)).toEqual(await journalOf({ remember }, wish));
});

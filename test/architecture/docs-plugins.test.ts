import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import type { ConfiguredPlugin } from "../../src/index.ts";
import { permissions, reminders, stopConditions } from "../../src/plugins.ts";
import { tracing } from "../../src/tracing.ts";

const page = readFileSync(resolve(import.meta.dirname, "../../docs/reference/plugins.md"), "utf8");
const unknown = { nonsense: 1 } as never;

// The refusal of an unknown option names the known ones: that list is what the page must have.
test.each([
  ["permissions", permissions(unknown)],
  ["A rule of permissions", permissions({ rules: [unknown] })],
  ["What permissions remember", permissions({ remember: unknown })],
  ["stopConditions", stopConditions(unknown)],
  ["reminders", reminders({ rules: [unknown] })],
  ["The output of a rule", reminders({ rules: [{ output: unknown } as never] })],
  ["The message of a rule", reminders({ rules: [{ message: unknown } as never] })],
  ["tracing", tracing(unknown)],
])("the page has the options of %s that the code accepts, and no others", async (section, configured) => {
  expect(namesIn(section)).toEqual(await knownOptions(configured));
});

async function knownOptions({ code, config }: ConfiguredPlugin): Promise<readonly string[]> {
  const result = await code.config?.["~standard"].validate(config);
  const messages = result?.issues?.map(({ message }) => message) ?? [];
  const known = messages.map((each) => /nonsense: unknown option; known are (.+)$/.exec(each)?.[1]);
  return known.find((each) => each !== undefined)?.split(", ") ?? [];
}

function namesIn(heading: string): readonly string[] {
  const [, section = ""] = page.split(new RegExp(`^#+ ${heading}$`, "m"));
  const [table = ""] = section.split(/^#+ /m);
  return [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = ""]) => name);
}

/** Tools and agents that the tests of permissions share. */
import { z } from "zod";
import type { Entry } from "../../../src/domain/entry.ts";
import type { JsonValue } from "../../../src/domain/json.ts";
import { tool } from "../../../src/index.ts";
import { type PermissionsOptions, permissions } from "../../../src/plugins.ts";
import type { ApprovalTicket, Run } from "../../../src/runtime/runtime.ts";
import {
  aModelThat,
  anAgentWith,
  callsTool,
  given,
  type Story,
  type StoryAgent,
  type StoryOptions,
  says,
} from "../../../src/testing/story.ts";

export const pay = tool({
  name: "pay",
  description: "Pays somebody",
  input: z.object({ to: z.string(), cents: z.number() }),
  effect: "idempotent",
  execute: ({ to, cents }) => `paid ${to} ${cents}`,
});
export const wipe = tool({
  name: "wipe",
  description: "Wipes a disk",
  input: z.object({ disk: z.string() }),
  effect: "idempotent",
  execute: ({ disk }) => `wiped ${disk}`,
});

export const ada = { to: "ada", cents: 5 };
export const bob = { to: "bob", cents: 7 };

export function guarded(options?: PermissionsOptions): StoryAgent {
  return { ...anAgentWith(pay, wipe), plugins: [permissions(options)] };
}

/** Each is called in a step of its own; then the model says "Done." */
export function aStoryOf(
  options: PermissionsOptions | undefined,
  calls: readonly (readonly [tool: string, input: JsonValue])[],
  more: StoryOptions = {},
): Promise<Story> {
  const steps = calls.map(([name, input]) => callsTool(name, input));
  return given(guarded(options), aModelThat(...steps, says("Done.")), more);
}

export async function approveWith(story: Story, run: Pick<Run, "id">, value?: JsonValue): Promise<void> {
  const ticket: ApprovalTicket = await story.expectWaitingFor(run, "approval");
  await ticket.approve({ by: "ana", ...(value === undefined ? {} : { value }) });
}

/** Everything that the run asked somebody, in order. */
export async function questionsIn(story: Story, run: Pick<Run, "id">): Promise<readonly string[]> {
  const journal = await story.journal(run);
  return journal.flatMap((entry) => (entry.type === "ticket-opened" ? [entry.ticket.prompt] : []));
}

/** What a journal says, without when it was said and by which process. */
export function told(journal: readonly Entry[]): readonly string[] {
  const left = ["at", "epoch", "startBy", "openedAt", "fingerprint"];
  return journal.map((entry) => JSON.stringify(entry, (key, value: unknown) => (left.includes(key) ? 0 : value)));
}

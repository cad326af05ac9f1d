import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { type CallPhaseView, type Command, memory, plugin, tool } from "../../../src/index.ts";
import { aModelThat, callsTool, given, says } from "../../../src/testing.ts";
import { keepPace, orders, type Pace, paces, reordered } from "./hook-plan.ts";

const numRuns = 2 * Number(process.env.HOLDFAST_ORDER_PLANS ?? 60);
const timeout = 60_000 + numRuns * 100;

type Wish = "nothing" | "deny" | "ask" | "set-result" | "patch-input";

const wishes = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom<Wish>("deny", "ask", "set-result") },
    { weight: 5, arbitrary: fc.constantFrom<Wish>("nothing", "patch-input") },
  ),
  { minLength: 1, maxLength: 8 },
);

const stamp = tool({
  name: "stamp",
  description: "Stamp",
  input: z.object({ marks: z.array(z.string()) }),
  effect: "pure",
  execute: ({ marks }) => marks.join(),
});

/** Everyone who patches adds a mark of their own to what is there, once. */
function said(wish: Wish, name: string, { call }: CallPhaseView): readonly Command[] {
  const { marks } = call.input as { readonly marks: readonly string[] };
  if (wish === "deny") return [{ type: "deny", reason: `${name} says no` }];
  if (wish === "ask") return [{ type: "ask", prompt: `${name} asks` }];
  if (wish === "set-result") return [{ type: "set-result", value: name }];
  if (wish === "nothing" || marks.includes(name)) return [];
  return [{ type: "patch-input", input: { marks: [...marks, name] } }];
}

async function play(drawn: readonly Wish[], pace: readonly Pace[]) {
  const plugins = drawn.map((wish, index) => {
    const name = `p${index}`;
    const answer = pace[index] ?? "at once";
    const gate = (view: CallPhaseView) => {
      const commands = said(wish, name, view);
      return answer === "at once" ? commands : keepPace(answer).then(() => commands);
    };
    return plugin({ name, create: () => ({ hooks: { "tool-gate": gate } }) })();
  });
  const model = aModelThat(callsTool("stamp", { marks: [] }), says("bye"));
  await using story = await given({ name: "teller", instructions: "Tell.", tools: [stamp], plugins }, model, {
    store: memory(),
  });
  const run = await story.userSays("go");
  if ((await run.idle()).status === "waiting") await story.approve(run, "stamp");
  await run.result();
  return { entries: await story.journal(run), results: await story.results(run), effects: story.effects(stamp) };
}

/** All of them may say the same: some kinds are rare, so that the milder ones are reached at all. */
const drawnWishes = fc.oneof(
  wishes,
  fc.constantFrom<readonly Wish[]>(["deny", "deny"], ["ask", "ask"], ["set-result", "set-result"]),
);

/** Deny beats ask, ask beats set-result, and that beats a changed input; of each kind the first by registration counts. */
function strictest(drawn: readonly Wish[]): object {
  const first = (wish: Wish): string | undefined => (drawn.includes(wish) ? `p${drawn.indexOf(wish)}` : undefined);
  const [no, asks, knows] = [first("deny"), first("ask"), first("set-result")];
  if (no) return { kind: "refuse", message: `${no} says no`, by: no };
  const marks = drawn.flatMap((wish, index) => (wish === "patch-input" ? [`p${index}`] : []));
  const patched = marks.length > 0 ? { input: { marks } } : {};
  if (asks) return { kind: "ask", prompt: `${asks} asks`, ...patched };
  if (knows) return { kind: "result", result: { value: knows }, by: knows };
  return { kind: "allow", ...patched, ...(marks.length > 0 ? { by: marks.at(-1) } : {}) };
}

test(
  "G2 plugins that judge a call give one verdict, whatever finishes first: the strictest",
  async () => {
    const property = fc.asyncProperty(drawnWishes, paces, orders, async (drawn, pace, order) => {
      const played = await play(drawn, pace);
      const verdicts = played.entries.flatMap((entry) => (entry.type === "call-gated" ? [entry.verdict] : []));
      expect(verdicts[0]).toMatchObject(strictest(drawn));
      expect(await play(drawn, reordered(pace, order))).toEqual(played);
      expect(await play(drawn, [])).toEqual(played);
    });
    await fc.assert(property, { numRuns });
  },
  timeout,
);

/** Where marks for a prompt cache stand, in any conversation: C1 and C2 of providers/shared/prompt-cache.ts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message, Role } from "../../src/domain/message.ts";
import { markedMessages } from "../../src/providers/shared/prompt-cache.ts";
import { said } from "../../src/testing/conformance/model-fixtures.ts";

const asked: fc.Arbitrary<Role> = fc.constantFrom("user", "tool", "system");
/** What a request adds to the one before it: the reply, and whatever was said or done then. */
const step = fc.array(asked, { maxLength: 40 });

function marksOf(messages: readonly Message[], stable = messages.length): readonly number[] {
  return [...markedMessages({ messages, cache: { key: "k", stable } })];
}

test("C1: what one request marks at its end, the next one marks again, however much came between", () => {
  fc.assert(
    fc.property(fc.array(asked, { minLength: 1, maxLength: 5 }), fc.array(step, { maxLength: 8 }), (first, steps) => {
      let messages = first.map((role) => said(role));
      for (const more of steps) {
        const end = marksOf(messages)[0] as number;
        messages = [...messages, said("assistant"), ...more.map((role) => said(role))];
        const next = marksOf(messages);
        expect(next).toContain(end);
        expect(next[0]).toBe(messages.findLastIndex(({ role }) => role !== "assistant"));
      }
    }),
  );
});

test("C2: at most two, never on a reply, never on what does not come again; none without a word of the engine", () => {
  const role: fc.Arbitrary<Role> = fc.constantFrom("user", "tool", "system", "assistant");
  fc.assert(
    fc.property(fc.array(role, { maxLength: 30 }), fc.nat(35), (roles, stable) => {
      const messages = roles.map((each) => said(each));
      const marks = marksOf(messages, Math.min(stable, messages.length));
      expect(marks.length).toBeLessThanOrEqual(2);
      for (const at of marks) {
        expect(at).toBeLessThan(stable);
        expect(messages[at]?.role).not.toBe("assistant");
      }
      expect(markedMessages({ messages }).size).toBe(0);
    }),
  );
});

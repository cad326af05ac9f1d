/** B1–B3: escrow. Whoever holds and settles in whatever order, no more is promised than there is. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Amount,
  affordableOutput,
  costOf,
  emptyLedger,
  hold,
  type Ledger,
  leftOf,
  settle,
} from "../../src/domain/ledger.ts";

const limits = { microUsd: 1_000_000, tokens: 500_000 };

function taken({ spent, held }: Ledger): Amount {
  const all = [spent, ...Object.values(held)];
  return {
    tokens: all.reduce((sum, { tokens }) => sum + tokens, 0),
    microUsd: all.reduce((sum, { microUsd }) => sum + microUsd, 0),
  };
}

const amount = fc.record({ tokens: fc.nat(60_000), microUsd: fc.nat(120_000) });
const act = fc.record({
  child: fc.nat(19),
  wants: amount,
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  lost: fc.boolean(),
});

test("B1, B2, B3 twenty children of one run under 1.00 USD: spent and held never exceed it at any commit", () => {
  const property = fc.property(fc.array(act, { maxLength: 300 }), (acts) => {
    let ledger = emptyLedger;
    for (const { child, wants, share, lost } of acts) {
      const holder = `child-${child}`;
      const held = ledger.held[holder];
      if (held) {
        const cost = { tokens: Math.floor(held.tokens * share), microUsd: Math.floor(held.microUsd * share) };
        const before = leftOf(limits, ledger);
        ledger = settle(ledger, holder, lost ? undefined : cost);
        const back = lost
          ? { tokens: 0, microUsd: 0 }
          : { tokens: held.tokens - cost.tokens, microUsd: held.microUsd - cost.microUsd };
        expect(leftOf(limits, ledger)).toEqual({
          tokens: before.tokens + back.tokens,
          microUsd: before.microUsd + back.microUsd,
        });
      } else {
        const left = leftOf(limits, ledger);
        const fits = wants.tokens <= left.tokens && wants.microUsd <= left.microUsd;
        if (fits) ledger = hold(ledger, holder, { amount: wants, limits });
        else expect(() => hold(ledger, holder, { amount: wants, limits })).toThrow("cannot hold");
      }
      const { tokens, microUsd } = taken(ledger);
      expect(tokens).toBeLessThanOrEqual(limits.tokens);
      expect(microUsd).toBeLessThanOrEqual(limits.microUsd);
      expect(leftOf(limits, ledger).tokens).toBeGreaterThanOrEqual(0);
    }
  });
  fc.assert(property, { numRuns: 300 });
});

test("B2 a holder settles once; a second time changes nothing", () => {
  const held = hold(emptyLedger, "a", { amount: { tokens: 10, microUsd: 5 }, limits });
  const settled = settle(held, "a", { tokens: 3, microUsd: 2 });
  expect(settled).toEqual({ spent: { tokens: 3, microUsd: 2 }, held: {} });
  expect(settle(settled, "a", { tokens: 3, microUsd: 2 })).toBe(settled);
});

test("B2 an overrun is seen, and nothing more can be held", () => {
  const held = hold(emptyLedger, "a", { amount: { tokens: 10, microUsd: 1_000_000 }, limits });
  const over = settle(held, "a", { tokens: 10, microUsd: 1_200_000 });
  expect(leftOf(limits, over).microUsd).toBe(-200_000);
  expect(() => hold(over, "b", { amount: { tokens: 0, microUsd: 1 }, limits })).toThrow("cannot hold");
});

const prices = { inputPerMillion: 3, outputPerMillion: 15 };

test("the longest answer that is affordable is paid for, and one token more would not be", () => {
  const property = fc.property(fc.nat(2_000_000), fc.nat(400_000), fc.nat(100_000), (microUsd, tokens, input) => {
    const left = { microUsd, tokens };
    const output = affordableOutput(left, input, prices);
    const cost = costOf({ inputTokens: input, outputTokens: output }, prices);
    if (output > 0) {
      expect(cost.microUsd).toBeLessThanOrEqual(microUsd);
      expect(cost.tokens).toBeLessThanOrEqual(tokens);
    }
    const more = costOf({ inputTokens: input, outputTokens: output + 1 }, prices);
    expect(more.microUsd > microUsd || more.tokens > tokens).toBe(true);
  });
  fc.assert(property, { numRuns: 1_000 });
});

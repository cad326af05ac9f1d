/** Invariant B2 of the seed: budget checked before the effect, inherited by subtraction, never negative. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyLedger, hold, type Ledger, leftOf, settle } from "../../src/domain/ledger.ts";

/** A run of a tree: what it was given, its books, and whose slice it lives on. */
interface Node {
  readonly id: string;
  readonly limit: number;
  readonly parent: Node | undefined;
  ledger: Ledger;
  isOpen: boolean;
}

const money = (microUsd: number) => ({ tokens: 0, microUsd });

function leftIn({ limit, ledger }: Node): number {
  return leftOf({ microUsd: limit }, ledger).microUsd;
}

/** True when it was held; what is not left is refused, and changes nothing. */
function holds(node: Node, holder: string, microUsd: number): boolean {
  const before = node.ledger;
  const fits = microUsd <= leftIn(node) && !Object.hasOwn(before.held, holder);
  const act = (): Ledger => hold(before, holder, { amount: money(microUsd), limits: { microUsd: node.limit } });
  if (!fits) {
    expect(act).toThrow("cannot hold");
    return false;
  }
  node.ledger = act();
  return true;
}

const act = fc.record({
  node: fc.nat(30),
  does: fc.constantFrom("call", "answer", "delegate", "end"),
  microUsd: fc.nat(300_000),
});

test("B2 budget checked before the effect, inherited by subtraction, never negative, over a tree of runs", () => {
  let effects = 0;
  let refused = 0;
  const property = fc.property(fc.array(act, { minLength: 60, maxLength: 200, size: "max" }), (acts) => {
    const root: Node = { id: "0", limit: 1_000_000, parent: undefined, ledger: emptyLedger, isOpen: true };
    const nodes = [root];
    let paid = 0;
    for (const { node: wanted, does, microUsd } of acts) {
      const node = nodes[wanted % nodes.length] as Node;
      if (!node.isOpen) continue;
      const children = nodes.filter(({ parent, isOpen }) => parent === node && isOpen);
      if (does === "call") {
        if (holds(node, "model", microUsd)) effects += 1;
        else refused += 1;
      } else if (does === "answer") {
        const { model } = node.ledger.held;
        const cost = Math.min(microUsd, model?.microUsd ?? 0);
        node.ledger = settle(node.ledger, "model", money(cost));
        paid += cost;
      } else if (does === "delegate") {
        const id = `${nodes.length}`;
        const before = leftIn(node);
        if (!holds(node, id, microUsd)) continue;
        nodes.push({ id, limit: microUsd, parent: node, ledger: emptyLedger, isOpen: true });
        expect(leftIn(node)).toBe(before - microUsd); // by subtraction
      } else if (node.parent && children.length === 0 && Object.keys(node.ledger.held).length === 0) {
        node.isOpen = false;
        const before = leftIn(node.parent);
        node.parent.ledger = settle(node.parent.ledger, node.id, node.ledger.spent);
        expect(leftIn(node.parent)).toBe(before + leftIn(node)); // what was left comes back, once
      }
      for (const each of nodes) expect(leftIn(each)).toBeGreaterThanOrEqual(0);
      expect(paid).toBeLessThanOrEqual(root.limit);
    }
  });
  fc.assert(property, { numRuns: 60, seed: 5 });
  expect(effects).toBeGreaterThan(100);
  expect(refused).toBeGreaterThan(100); // else there was always enough
});

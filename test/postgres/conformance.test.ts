import { describe, test } from "vitest";
import { storeConformance } from "../../src/testing/conformance/store-conformance.ts";
import { freshStore } from "./shared-server.ts";

const checks = Object.entries(storeConformance);

describe("the postgres store", () => {
  for (const [fact, check] of checks) test(fact, async () => check((await freshStore()).definition.open));
});

// The same statements without a name: every seventh check is enough to see that none needs one.
describe("the postgres store without prepared statements", () => {
  for (const [fact, check] of checks.filter((_, index) => index % 7 === 0)) {
    test(fact, async () => check((await freshStore({ prepare: false })).definition.open));
  }
});

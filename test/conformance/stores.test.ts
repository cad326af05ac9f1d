import { describe, test } from "vitest";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { memory } from "../../src/stores/memory/memory.ts";
import { storeConformance } from "../../src/testing/conformance/store-conformance.ts";

const stores: Record<string, () => StoreDefinition> = {
  memory: () => memory(),
};

for (const [name, fresh] of Object.entries(stores)) {
  describe(`the ${name} store`, () => {
    for (const [fact, check] of Object.entries(storeConformance)) {
      test(fact, () => check(fresh().open));
    }
  });
}

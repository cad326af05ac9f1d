/** Every scenario runs on every store. */
import { describe } from "vitest";
import { memory } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";

const stores: Record<string, () => StoreDefinition> = {
  memory: () => memory(),
};

export function onEveryStore(scenarios: (freshStore: () => StoreDefinition) => void): void {
  for (const [name, fresh] of Object.entries(stores)) describe(`on ${name}`, () => scenarios(fresh));
}

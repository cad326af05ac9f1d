import { describe, test } from "vitest";
import { dispatcherConformance } from "../../src/testing/conformance/dispatcher-conformance.ts";
import { freshStore } from "./shared-server.ts";

describe("the dispatcher on postgres", () => {
  for (const [fact, check] of Object.entries(dispatcherConformance)) {
    test(fact, async () => check((await freshStore()).definition.open));
  }
});

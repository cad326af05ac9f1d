import { expect, test } from "vitest";
import type { RunId, Scope } from "../../src/domain/ids.ts";
import { Problems } from "../../src/domain/problems.ts";
import { readRedaction } from "../../src/domain/redaction.ts";
import { askResolver } from "../../src/runtime/ask-resolver.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";

test("A2 a question that nobody waits for any more is not waited for, however the resolver hangs", async () => {
  const logger = { warn: () => undefined, note: () => undefined };
  const by = {
    clock: createFakeClock(),
    logger,
    redactor: readRedaction(undefined, new Problems({}, [])),
    timeoutMs: 30_000,
  };
  const wanted = { agent: "ann", run: "r" as RunId, scope: "default" as Scope };
  const hanging = { resolve: () => new Promise<never>(() => undefined) };
  const asking = askResolver(hanging, wanted, { ...by, signal: AbortSignal.abort() });
  await expect(asking).rejects.toMatchObject({ code: "resolver-failed", details: { isLate: false } });
});

/** A worker that serves several scopes, and one that meets a run which nothing can read. */
import { expect, onTestFinished, test } from "vitest";
import { agent, createRuntime, HoldfastError, memory, type Runtime } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";
import { aModelThat, anAgentWith, given, says } from "../../src/testing/story.ts";
import { silentLogger } from "../../src/testing/test-process.ts";
import { onEveryStore } from "./stores.ts";

const greeter = agent({ name: "greeter", model: scripted(["Hi."]), instructions: "Greet." });

async function desk(store: StoreDefinition, scope: string): Promise<Runtime> {
  const runtime = await createRuntime({ store, scope, pollMs: 10, watchPollMs: 10, logger: silentLogger });
  onTestFinished(() => runtime.close());
  return runtime;
}

onEveryStore((freshStore) => {
  for (const scopes of [["b", "c"], "all"] as const) {
    test(`a worker of ${scopes} runs what was started in other scopes, each in its own`, async () => {
      const store = freshStore();
      const settings = { agents: [greeter], store, scope: "a", pollMs: 10, logger: silentLogger };
      await using worker = await createRuntime({ ...settings, scopes });
      for (const scope of ["b", "c"]) {
        const tenant = await desk(store, scope);
        const run = await tenant.start(greeter, "hi");
        expect(await run.result()).toMatchObject({ outcome: "completed", output: "Hi." });
      }
      expect(await worker.runs.count()).toBe(0);
    });
  }

  test("a worker of its own scope leaves other scopes alone", async () => {
    const store = freshStore();
    const settings = { agents: [greeter], store, scope: "a", pollMs: 10, logger: silentLogger };
    await using worker = await createRuntime(settings);
    const other = await (await desk(store, "b")).start(greeter, "hi");
    await (await worker.start(greeter, "hi")).result();
    expect((await other.status()).status).toBe("created");
  });
});

test("P6 a run whose journal cannot be read is tried ever more rarely, and its neighbours go on", async () => {
  let poisoned: string | undefined;
  let reads = 0;
  const story = await given(anAgentWith(), aModelThat(says("Done.")), {
    store: memory(),
    settings: { leaseMs: 1_000, pollMs: 100_000_000, limits: { crashes: 2 } },
    intercept: (call, proceed) => {
      const key = call.args[0] as { readonly run?: string } | undefined;
      if (call.method !== "snapshot" || key?.run !== poisoned) return proceed();
      reads += 1;
      return Promise.reject(new HoldfastError("entry-unreadable", "torn"));
    },
  });
  const startAt = story.t.clock.now() + 1;
  const run = await story.userSays("torn", { startAt });
  poisoned = run.id;
  await story.pass(3_600_000);
  expect(reads).toBeGreaterThan(5);
  expect(reads).toBeLessThan(20);
  await story.expectReply(await story.userSays("fine"), "Done.");
  poisoned = undefined; // code that can read it
  await story.pass(3_600_000);
  await (await story.expectWaitingFor(run, "quarantined")).release({ by: "ops" });
  await story.expectReply(run, "Done.");
  await story.close();
});

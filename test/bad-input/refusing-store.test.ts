/** What a caller hears of a store that does not take its writes. */
import { expect, test } from "vitest";
import { agent, createRuntime, HoldfastError, memory } from "../../src/index.ts";
import type { StoreDefinition } from "../../src/ports/store.ts";
import { scripted } from "../../src/providers/scripted.ts";

const quiet = { warn: () => undefined, note: () => undefined };
const teller = agent({ name: "teller", model: scripted(["ok"]), instructions: "" });

function refusing(code: "store-full" | "store-unavailable" | "commit-unknown"): StoreDefinition {
  const definition = memory();
  const create = async (): Promise<never> => {
    throw new HoldfastError(code, "not now");
  };
  return { name: "refusing", open: async (deps) => ({ ...(await definition.open(deps)), create }) };
}

test("a start on a full disk is refused at once", async () => {
  const runtime = await createRuntime({ store: refusing("store-full"), logger: quiet });
  await expect(runtime.start(teller, "go")).rejects.toMatchObject({ code: "store-full" });
  await runtime.close();
});

for (const code of ["store-unavailable", "commit-unknown"] as const) {
  test(`a start that meets ${code} again and again is given up after 30 seconds`, async () => {
    let asked = 0;
    let now = 0;
    const clock = {
      now: () => now,
      monotonic: () => {
        if (code === "commit-unknown") now += 1_000;
        return now;
      },
      sleep: async (ms: number) => {
        asked += 1;
        now += ms;
      },
    };
    const runtime = await createRuntime({ store: refusing(code), logger: quiet, clock });
    await expect(runtime.start(teller, "go")).rejects.toMatchObject({ code });
    expect(now).toBeGreaterThanOrEqual(30_000);
    if (code === "store-unavailable") expect(asked).toBeGreaterThan(5);
    await runtime.close();
  });
}

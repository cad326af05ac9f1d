import { describe, expect, test, vi } from "vitest";
import type * as data from "../../src/stores/memory/data.ts";
import { memoryMutants } from "./memory-mutants.ts";
import { hunt } from "./mutant.ts";
import { portMutants } from "./port-mutants.ts";
import { storeMutants } from "./store-mutants.ts";

// Some mutants need the records of the memory store that the simulator runs on.
const opened = vi.hoisted(() => ({ last: undefined as data.MemoryData | undefined }));
vi.mock("../../src/stores/memory/data.ts", async (original) => {
  const real = await original<typeof data>();
  return {
    ...real,
    createMemoryData: () => {
      opened.last = real.createMemoryData();
      return opened.last;
    },
  };
});

function lastData(): data.MemoryData {
  if (!opened.last) throw new Error("No memory store was opened");
  return opened.last;
}

describe("a broken promise is caught", () => {
  const mutants = [...storeMutants, ...memoryMutants(lastData), ...portMutants];

  test.each(mutants)("$name is caught by $caughtBy", { timeout: 120_000 }, async (mutant) => {
    const caught = await hunt(mutant);
    expect(caught, `${mutant.name} was not caught in ${mutant.within} schedules`).toBeDefined();
    console.log(`${mutant.name}: caught at seed ${caught?.seed} by ${caught?.checks.join(", ")}`);
    expect(caught?.healthy).toBeUndefined();
    expect(caught?.checks).toContain(mutant.caughtBy);
  });
});

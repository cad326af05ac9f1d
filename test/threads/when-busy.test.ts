/** A start on a thread whose run is not done: every cell of the table, on every store. */
import { test } from "vitest";
import { onEveryStore } from "../scenarios/stores.ts";
import { expectAnswer, expectEnd } from "./busy-outcomes.ts";
import { aBusyThread } from "./busy-story.ts";
import { cells, titleOf } from "./busy-table.ts";

onEveryStore((freshStore) => {
  for (const cell of cells) {
    test(titleOf(cell), async () => {
      await using busy = await aBusyThread(cell.stands, { store: freshStore() });
      await expectAnswer({ busy, ...cell });
      await expectEnd({ busy, ...cell });
    });

    test(`over a restart, ${titleOf(cell)}`, async () => {
      await using busy = await aBusyThread(cell.stands, { store: freshStore() });
      await expectAnswer({ busy, ...cell });
      await busy.restart();
      if (cell.answer !== "busy") await expectAnswer({ busy, ...cell });
      await expectEnd({ busy, ...cell });
    });
  }
});

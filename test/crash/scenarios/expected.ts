/** The table of outcomes: data, reviewed by eye; the matrix holds every play against it. */
import { besideRows } from "./background-expected.ts";
import { decidedRows } from "./decided-expected.ts";
import { delegationRows } from "./delegation-expected.ts";
import { endedRows } from "./ended-expected.ts";
import type { ExpectedRows } from "./expected-rows.ts";
import { onceRows } from "./once-expected.ts";
import { outputRows } from "./output-expected.ts";
import { plainRows } from "./plain-expected.ts";
import { pluginCommandRows } from "./plugin-commands-expected.ts";
import { pluginStateRows } from "./plugin-state-expected.ts";
import { policyOutputRows } from "./policy-output-expected.ts";
import { sinkRows } from "./sinks-expected.ts";
import { summarisedRows } from "./summarised-expected.ts";
import { threadRows } from "./threads-expected.ts";
import { successorRows } from "./threads-successor-expected.ts";

export const table: ExpectedRows = {
  ...plainRows,
  ...onceRows,
  ...decidedRows,
  ...endedRows,
  ...threadRows,
  ...successorRows,
  ...pluginStateRows,
  ...pluginCommandRows,
  ...policyOutputRows,
  ...sinkRows,
  ...outputRows,
  ...summarisedRows,
  ...delegationRows,
  ...besideRows,
};

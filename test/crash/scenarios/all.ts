import type { CrashScenario } from "../../../src/testing/crash-scenario.ts";
import { decided } from "./decided.ts";
import { ended } from "./ended.ts";
import { once } from "./once.ts";
import { outputScenarios } from "./output.ts";
import { plain } from "./plain.ts";
import { pluginCommands } from "./plugin-commands.ts";
import { pluginState } from "./plugin-state.ts";
import { policyOutputs } from "./policy-output.ts";
import { sinkScenarios } from "./sinks.ts";
import { summarised } from "./summarised.ts";
import { busyThreads } from "./threads-busy.ts";
import { keptThreads } from "./threads-kept.ts";
import { successors } from "./threads-successor.ts";

export const scenarios: readonly CrashScenario[] = [
  ...plain,
  ...once,
  ...decided,
  ...ended,
  ...busyThreads,
  ...keptThreads,
  ...successors,
  ...sinkScenarios,
  ...outputScenarios,
  ...summarised,
];

/** Apart, because they make so many calls that not every store plays all of them in every run of the tests. */
export const pluggedScenarios: readonly CrashScenario[] = [...pluginState, ...pluginCommands, ...policyOutputs];

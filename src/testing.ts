/** What a test of agents needs: `import { … } from "holdfast/testing"`. */
export {
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedOptions,
  type ScriptedReply,
  scripted,
} from "./providers/scripted.ts";
export { createFakeClock, type FakeClock } from "./testing/fake-clock.ts";
export { type Intercept, interceptStore, type PortCall } from "./testing/intercept.ts";
export { type Executed, type TestRuntime, type TestRuntimeOptions, testRuntime } from "./testing/test-runtime.ts";

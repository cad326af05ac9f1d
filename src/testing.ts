/** What a test of agents, stores or plugins needs: `import { … } from "holdfast/testing"`. */
export { type CassetteOptions, cassette } from "./providers/cassette/cassette.ts";
export {
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedOptions,
  type ScriptedReply,
  scripted,
} from "./providers/scripted.ts";
export { backendConformance } from "./testing/conformance/backend-conformance.ts";
export type {
  BackendCheck,
  PlayBackend,
  PlayedBackend,
  PlayedTurn,
} from "./testing/conformance/backend-fixtures.ts";
export { modelConformance } from "./testing/conformance/model-conformance.ts";
export type {
  ModelCheck,
  PlayedAnswer,
  PlayedModel,
  PlayedReply,
  PlayModel,
} from "./testing/conformance/model-fixtures.ts";
export { type ComparisonOptions, compareWithMemory } from "./testing/conformance/store-comparison.ts";
export { storeConformance } from "./testing/conformance/store-conformance.ts";
export type { OpenStore, StoreCheck } from "./testing/conformance/store-fixtures.ts";
export { type CrashFailure, type CrashOptions, type CrashReport, crashEverywhere } from "./testing/crash-kit.ts";
export type { CrashScenario, ScriptContext } from "./testing/crash-scenario.ts";
export { createFakeClock, type FakeClock } from "./testing/fake-clock.ts";
export {
  type FakeAnswer,
  type FakeRemote,
  type FakeRemoteOptions,
  type FakeTurn,
  fakeRemote,
} from "./testing/fake-remote.ts";
export { type Intercept, interceptStore, type PortCall } from "./testing/intercept.ts";
export { type SimOptions, type SimReport, simulate } from "./testing/sim/simulate.ts";
export {
  aModelThat,
  anAgentWith,
  callsTool,
  callsTools,
  given,
  type Story,
  type StoryOptions,
  says,
} from "./testing/story.ts";
export { type Executed, type TestRuntime, type TestRuntimeOptions, testRuntime } from "./testing/test-runtime.ts";

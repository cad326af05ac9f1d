/** The tracing plugin's door: `import { tracing } from "holdfast/tracing"`. Apart from the others, for it needs OpenTelemetry. */
export { type TracingOptions, tracing } from "./plugins/tracing/tracing.ts";

/** Models behind OpenAI's chat completions: `import { openaiCompatible } from "holdfast/openai"`. */
export { openaiCompatible } from "./providers/openai-compatible/openai-compatible.ts";
export type { ApiKey, OpenAiCompatibleOptions } from "./providers/openai-compatible/options.ts";

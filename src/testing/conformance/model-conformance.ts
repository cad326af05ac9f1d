/**
 * The provider port's promises as named checks, free of any test framework: a table of providers × checks is a loop.
 * Every check plays its own answers and closes what it opened.
 */
import { failures } from "./model-failures.ts";
import type { ModelCheck } from "./model-fixtures.ts";
import { replies } from "./model-replies.ts";
import { requests } from "./model-requests.ts";

export const modelConformance: Record<string, ModelCheck> = { ...replies, ...failures, ...requests };

/** The dispatcher's promises (P1 to P7, O1 to O3, R1, R2) as named checks, free of any test framework, on any store. */
import type { DispatcherCheck } from "./dispatcher-bench.ts";
import { claimChecks } from "./dispatcher-claims.ts";
import { leaseChecks } from "./dispatcher-leases.ts";

export const dispatcherConformance: Record<string, DispatcherCheck> = { ...claimChecks, ...leaseChecks };

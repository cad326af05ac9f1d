/** createRuntime: a front desk, and a worker for the agents that it is given. */
import { composeRuntime, openPorts, redactingSetup } from "./compose.ts";
import { withLent } from "./domain/lend-agent.ts";
import { checkRuntimeOptions, type RuntimeOptions } from "./options.ts";
import { bindAgent } from "./runtime/bind-agent.ts";
import type { Runtime } from "./runtime/runtime.ts";

export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return redactingSetup(options ?? {}, async () => {
    const agents = checkRuntimeOptions(options);
    const bound = withLent(agents).map(bindAgent); // first: a backend that cannot be built leaves no store open
    return composeRuntime(await openPorts(options), bound, options);
  });
}

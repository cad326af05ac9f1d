/** A mutant: one promise of one port, broken by a wrapper. The simulator's checks must notice, by the name expected. */
import { runCampaign, showBroken } from "../../src/testing/sim/campaign.ts";
import type { CheckName } from "../../src/testing/sim/violations.ts";
import type { Wrap } from "../../src/testing/sim/wrap.ts";

export interface Mutant {
  readonly name: string;
  readonly wrap: Wrap;
  readonly caughtBy: CheckName;
  /** Others who make the moment happen that it needs; they are there without the mutant too. */
  readonly among?: Wrap;
  /** Schedules within which it must be caught, several times what it takes. */
  readonly within: number;
  /** Schedules about plugins. */
  readonly plugins?: boolean;
}

export interface Caught {
  readonly seed: number;
  readonly checks: readonly CheckName[];
  /** What the same schedules show without the mutant. */
  readonly healthy: string | undefined;
}

const fewestControls = 20;

/**
 * With every other check switched off, so that one layer cannot hide the loss of another. `heal` takes back what the
 * wrapper did not do.
 */
export async function hunt(mutant: Mutant, heal: () => void = () => undefined): Promise<Caught | undefined> {
  const { wrap, within, caughtBy, among = {}, plugins = false } = mutant;
  const options = { wrap: { ...among, ...wrap }, only: [caughtBy], plugins };
  const { broken } = await runCampaign({ first: 1, count: within, options });
  heal();
  if (!broken) return undefined;
  const count = Math.max(broken.seed, fewestControls);
  const control = await runCampaign({ first: 1, count, options: { wrap: among, plugins } });
  return {
    seed: broken.seed,
    checks: broken.violations.map(({ check }) => check),
    healthy: control.broken && showBroken(control.broken),
  };
}

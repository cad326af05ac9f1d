/** The operator of a play: looks at what a cut has left behind, and does what a person would. */
import { foldAll } from "../domain/apply.ts";
import { withLent } from "../domain/lend-agent.ts";
import { readAfter } from "../engine/load.ts";
import { isCreate } from "./crash-labels.ts";
import { allBirths, type Life } from "./crash-life.ts";

export async function operate(life: Life): Promise<boolean> {
  return (await answerUnknown(life)) || (await releaseMended(life));
}

/** An outcome that a cut made unknown is marked done, with what the uncut play gave or the world shows. */
async function answerUnknown(life: Life): Promise<boolean> {
  const { store } = life;
  const { scope, scenario, results } = life.request;
  const filter = { scope, status: "open", kind: "unknown-outcome", limit: 100 } as const;
  for (const { ticket } of await store.tickets(filter)) {
    const { id, call, run, hash, generation, decidableFrom = 0 } = ticket;
    if (!call || decidableFrom > life.clock.now()) continue;
    if (generation <= (scenario.unknownsAnsweredByScript ?? 0)) continue;
    const [effect] = life.world.effects().filter((each) => each.call === call.id);
    const result = results.get(call.id.slice(run.length + 1)) ?? effect?.result ?? null;
    life.runtime.tickets
      .decide(id, { kind: "mark-done", result, hash, by: "crash-kit", key: `crash-kit:${id}` })
      .catch(() => undefined);
    return true;
  }
  return false;
}

/** A plugin that could not be created once can be now. */
async function releaseMended({ store, probe, request, runtime }: Life): Promise<boolean> {
  if (!isCreate(probe.cutAt() ?? "") || probe.isDead()) return false;
  const filter = { scope: request.scope, status: "open", kind: "quarantined", limit: 1 } as const;
  const [row] = await store.tickets(filter);
  if (!row) return false;
  const { id, hash } = row.ticket;
  runtime.tickets.decide(id, { kind: "release", hash, by: "crash-kit", key: `crash-kit:${id}` }).catch(() => undefined);
  return true;
}

/** Which effects a death left open that nobody can ask about. */
export async function lostEffects(life: Life): Promise<readonly string[]> {
  const { store } = life;
  const { scope, scenario } = life.request;
  const specs = new Map(
    withLent(scenario.agents(life.world)).flatMap((each) => each.tools.map(({ spec }) => [spec.name, spec] as const)),
  );
  const lost: string[] = [];
  for (const run of allBirths(life)) {
    const entries = await readAfter({ scope, run }, 0, store);
    if (entries.length === 0) continue;
    for (const call of foldAll(entries).step?.calls ?? []) {
      const spec = specs.get(call.tool);
      if (call.effect?.open && spec?.effect === "once" && !spec.reconciles) {
        lost.push(call.effect.id.slice(run.length + 1));
      }
    }
  }
  return lost;
}

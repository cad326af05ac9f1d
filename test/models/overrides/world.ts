/** Models by route that remember what they were asked, and what a run's events say of it. */
import type { ModelDescription, ModelRequest, Overrides, Providers, Run } from "../../../src/index.ts";
import { type ScriptedAnswer, scripted } from "../../../src/testing.ts";

export interface AskedModel extends ModelRequest {
  readonly by: string;
}

export interface World {
  readonly providers: Providers;
  /** Every call, in order. */
  readonly asked: readonly AskedModel[];
}

type Described = Omit<ModelDescription, "provider" | "model">;

/** Models `acme/<name>` and `beta/<name>` that say who they are; `descriptions` are by name. */
export function world(
  descriptions: Readonly<Record<string, Described>> = {},
  answers: (name: string) => readonly ScriptedAnswer[] = (name) => Array.from({ length: 9 }, () => `I am ${name}.`),
): World {
  const asked: AskedModel[] = [];
  const model = (name: string) => {
    const description = descriptions[name] ?? {};
    const inner = scripted(answers(name), { name, description });
    return {
      description: inner.description,
      call: (request: ModelRequest, signal: AbortSignal) => {
        asked.push({ ...request, by: name });
        return inner.call(request, signal);
      },
    };
  };
  const known = (name: string) => (name.startsWith("unknown") ? undefined : model(name));
  return { asked, providers: { acme: known, beta: known } };
}

/** What the intents of its model calls say. */
export async function intended(run: Run<unknown>): Promise<readonly (Overrides | undefined)[]> {
  const found: (Overrides | undefined)[] = [];
  for await (const event of run.watch({ until: "end" })) {
    if (event.type === "effect-intended" && event.kind === "model") found.push(event.overrides);
  }
  return found;
}

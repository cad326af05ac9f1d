/** A model by name, `provider/model`: what it can do is known when the runtime's providers have been asked for it. */
import type { DescribedModel } from "./model.ts";

export interface RoutedModel extends DescribedModel {
  /** As it was written; the description has only its names. */
  readonly route: string;
}

/** The first slash parts them: names of models have slashes too. Undefined when one of the two is missing. */
export function readRoute(route: string): RoutedModel | undefined {
  const slash = route.indexOf("/");
  const [provider, model] = [route.slice(0, slash), route.slice(slash + 1)];
  if (slash < 1 || model === "" || route !== route.trim()) return undefined;
  return { description: { provider, model }, route };
}

export function isRouted(model: DescribedModel): model is RoutedModel {
  return typeof (model as Partial<RoutedModel>).route === "string";
}

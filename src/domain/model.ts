/** The model as a definition sees it: something that describes itself. Calling it is the provider port's matter. */

export interface ModelDescription {
  readonly provider: string;
  readonly model: string;
}

export interface DescribedModel {
  readonly description: ModelDescription;
}

/** The model as a definition sees it: something that describes itself. Calling it is the provider port's matter. */

export interface ModelDescription {
  readonly provider: string;
  readonly model: string;
  /** It can be bound to a JSON Schema; otherwise it is asked in words. */
  readonly structuredOutput?: boolean;
}

export interface DescribedModel {
  readonly description: ModelDescription;
}

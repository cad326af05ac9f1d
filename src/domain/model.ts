/** The model as a definition sees it: something that describes itself. Calling it is the provider port's matter. */

/** In US dollars per million tokens. */
export interface ModelPrices {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

export interface ModelDescription {
  readonly provider: string;
  readonly model: string;
  /** It can be bound to a JSON Schema; otherwise it is asked in words. */
  readonly structuredOutput?: boolean;
  /** Needed for a budget in money. */
  readonly prices?: ModelPrices;
  /** The most tokens that one answer can have. */
  readonly maxOutputTokens?: number;
}

export interface DescribedModel {
  readonly description: ModelDescription;
}

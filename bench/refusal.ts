/** What was asked for cannot be measured: the message is shown without a stack, and nothing runs. */
export class Refusal extends Error {}

/** Fresh, time-ordered ids for what comes from outside (runs, threads, inputs, posts). The engine derives its own. */
export interface Ids {
  next(): string;
}

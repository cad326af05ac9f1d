/** Two types that are the same in both directions, `any` excluded. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only for `true`. */
export function holds<_Fact extends true>(): void {
  return;
}

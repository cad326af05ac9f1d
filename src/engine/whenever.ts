/** Values that may have to be waited for: what needs no waiting is gone on with at once, in the same turn. */

export type Whenever<T> = T | Promise<T>;

export function isAwaitable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === "function";
}

export function whenKnown<T, U>(value: T | PromiseLike<T>, next: (value: T) => Whenever<U>): Whenever<U> {
  return isAwaitable(value) ? Promise.resolve(value).then(next) : next(value);
}

/** A foreign stream, read so that it can always be left: by an abort, by whoever stops listening, or at its end. */

/** Whatever the promise does, an abort is the end of waiting for it. */
export function untilAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    const heard = (): void => signal.removeEventListener("abort", stop);
    promise.then(
      (value) => {
        heard();
        resolve(value);
      },
      (cause: unknown) => {
        heard();
        reject(cause);
      },
    );
  });
}

interface Reader {
  read(): PromiseLike<{ readonly done?: unknown; readonly value?: unknown }>;
  cancel(reason?: unknown): PromiseLike<unknown>;
}

/** Undefined when it is no stream that can be read. */
export function readerOf(result: unknown): Reader | undefined {
  const { stream } = (result ?? {}) as { readonly stream?: { readonly getReader?: () => Reader } };
  return typeof stream?.getReader === "function" ? stream.getReader() : undefined;
}

export async function* partsOf(reader: Reader, signal: AbortSignal): AsyncIterable<unknown> {
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await untilAborted(reader.read(), signal);
      isDone = done === true;
      if (isDone) return;
      yield value;
    }
  } finally {
    if (!isDone) leave(reader, signal.reason);
  }
}

/** Not waited for: a deaf source must not hold whoever has left. */
export function leave(reader: Reader | undefined, reason?: unknown): void {
  try {
    reader?.cancel(reason).then(undefined, () => undefined);
  } catch {
    // Nobody listens any more.
  }
}

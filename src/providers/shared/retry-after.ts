/** How long a server asks to be left alone: seconds, milliseconds or a date. What cannot be read is not said. */

const day = 24 * 60 * 60_000;

export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(exact)) return bounded(exact);
  const said = headers.get("retry-after")?.trim() ?? "";
  if (said === "") return undefined;
  const seconds = Number(said);
  if (Number.isFinite(seconds)) return bounded(seconds * 1_000);
  const date = Date.parse(said);
  return Number.isNaN(date) ? undefined : bounded(date - now);
}

/** The engine has limits of its own; this only keeps the number sane. */
function bounded(ms: number): number {
  return Math.round(Math.min(day, Math.max(0, ms)));
}

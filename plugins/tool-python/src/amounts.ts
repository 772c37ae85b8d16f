/** Describes a duration: `250 ms`, `1.5 s`, `10 min`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  return ms >= 60_000 && ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1000} s`;
}

/** Describes an amount of memory: `256 MB`. */
export function memoryText(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MB`;
}

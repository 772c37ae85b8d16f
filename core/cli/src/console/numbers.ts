/** Formats a share or a reward with three decimals; a dash for no value. */
export function decimal(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value) ? "-" : value.toFixed(3);
}

/** Formats a share in whole percent, `<1 %` for a small one that is not 0; a dash for no value. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return "-";
  const rounded = Math.round(100 * share);
  if (rounded === 0 && share > 0) return "<1 %";
  return rounded === 100 && share < 1 ? ">99 %" : `${rounded} %`;
}

/** Formats seconds: `8.1 s`, `2 min 05 s`, `3 h 04 min`. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole >= 3600)
    return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
}

/** Formats a whole number with commas between groups of three digits. */
export function grouped(number: number): string {
  return number.toLocaleString("en-US");
}

/** Formats a number with a noun: `1 error`, `2 errors`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Returns 1 up to `full`, 0 from `none` on, and between them a straight line. */
export function within(value: number, { full, none }: { readonly full: number; readonly none: number }): number {
  return Math.min(1, Math.max(0, (none - value) / (none - full)));
}

/** Returns a random delay between a half of this one and one and a half of it, so that clients that were refused together do not return together. */
export function jittered(milliseconds: number): number {
  return Math.round(milliseconds * (0.5 + Math.random()));
}

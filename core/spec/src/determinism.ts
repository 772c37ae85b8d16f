/**
 * What an environment promises.
 * - `full`: same task, seed and actions give the same observations and rewards, byte for byte.
 * - `replayable`: the same from recorded outside answers.
 * - `none`: no promise; a seed is refused.
 */
export type Determinism = "full" | "replayable" | "none";

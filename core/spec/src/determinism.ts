/**
 * Guarantee of an environment about repeated episodes.
 * - `full`: same task, seed and actions give the same observations and rewards, byte for byte.
 * - `replayable`: the same, if recorded answers of external services are used again.
 * - `none`: no guarantee; `reset` refuses a seed with SEED_REFUSED.
 */
export type Determinism = "full" | "replayable" | "none";

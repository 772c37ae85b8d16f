/** Kinds of processes of a run that plays beside learning. */
export const KINDS = ["training", "engine", "sampler", "rollouts", "store", "environments"] as const;

export type Kind = (typeof KINDS)[number];

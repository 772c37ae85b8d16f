import { type Kind, KINDS } from "./kinds.ts";

/** Signal that one process of a kind gets. */
export interface PlannedSignal {
  readonly kind: Kind;
  /** `SIGSTOP`: for longer than a lease, then `SIGCONT`. */
  readonly signal: "SIGKILL" | "SIGSTOP";
  /** Share of the duration of a start after which a process that starts receives it; `undefined`: one that does its work. */
  readonly early?: number;
}

/** Shares of the kills, in percent. A start of torch takes as long as several starts of Node. */
const SHARES: Readonly<Record<Kind, number>> = {
  training: 8,
  engine: 8,
  sampler: 12,
  rollouts: 28,
  store: 22,
  environments: 22,
};
/** Share of the kills that hit a process while it starts. */
const EARLY = 0.2;

/**
 * Plans kills of all kinds by their shares, and a stop of each kind.
 * @param kills number of kills; at least one of each kind is planned
 * @param random numbers from 0 up to 1
 */
export function planSignals(kills: number, random: () => number): PlannedSignal[] {
  const counts = new Map(KINDS.map((kind) => [kind, Math.max(1, Math.floor((kills * SHARES[kind]) / 100))]));
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  counts.set("rollouts", Math.max(1, (counts.get("rollouts") as number) + kills - total));
  return KINDS.flatMap((kind): PlannedSignal[] => [
    ...Array.from({ length: counts.get(kind) as number }, () => ({
      kind,
      signal: "SIGKILL" as const,
      ...(random() < EARLY ? { early: random() } : {}),
    })),
    { kind, signal: "SIGSTOP" },
  ]);
}

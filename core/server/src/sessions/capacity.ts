import type { AdmissionLimits, PlaceUse } from "./admission.ts";

/** Limits of a server, and how much of them is in use. */
export interface Capacity {
  readonly limits: CapacityLimits;
  /** Whether no new sessions are opened, because the server stops. */
  readonly isDraining: boolean;
  /** Use of the whole server, or of an environment by its id. */
  use(environment?: string): PlaceUse;
  /** Use by a client with a name. */
  useOfClient(client: string): PlaceUse;
}

/** Limits that a server states to its clients. */
export interface CapacityLimits {
  readonly sessions: number;
  readonly sessionsPerClient: number;
  readonly sessionsByEnvironment: Readonly<Record<string, number>>;
  readonly queue: number;
  readonly queueMs: number;
  readonly leaseMs: number;
}

/** Returns the limits as a server states them. */
export function capacityLimits(limits: AdmissionLimits, leaseMs: number): CapacityLimits {
  const { places, placesPerClient, placesByEnvironment = {}, queue, queueMs } = limits;
  return {
    ...{ sessions: places, sessionsPerClient: placesPerClient, sessionsByEnvironment: placesByEnvironment },
    ...{ queue, queueMs, leaseMs },
  };
}

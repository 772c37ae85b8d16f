import { DatabaseSync } from "node:sqlite";

/** Facts of the groups of a simulated run, from its store. */
export interface FleetRecord {
  readonly faults: readonly string[];
  readonly opened: number;
  readonly learnt: number;
  readonly refused: number;
  /** Groups that wait to be played, are played, or wait to be taken. */
  readonly waiting: number;
  readonly episodes: number;
  /** Leases that passed to another worker, of groups that were not abandoned. */
  readonly lost: number;
  /** Largest numbers of takes for which a group waited. */
  readonly waits: { readonly "to be played": number; readonly "after it was played": number };
  /** Longest time for which a group had been leased at the end. */
  readonly longestLeaseMs: number;
  /** Largest number of groups that were opened and not taken, over the time of the run. */
  readonly largestBuffer: number;
}

interface Group {
  readonly cohort: string;
  readonly id: string;
  readonly state: string;
  readonly step: number | null;
  readonly refill: number | null;
  readonly refused: number | null;
  readonly episodes: number;
}

interface Event {
  readonly number: number;
  readonly at: number;
  readonly kind: string;
  readonly subject: string;
  readonly step: number;
}

/**
 * Reads the groups and the events of a store.
 * @param learnt ids of the groups that each take returned
 */
export function readFleet(path: string, learner: string, learnt: ReadonlyMap<number, readonly string[]>): FleetRecord {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = (sql: string): unknown[] => database.prepare(sql).all();
  const groups = rows(
    `SELECT cohorts.id AS cohort, groups.id AS id, cohorts.state AS state, steps.step AS step,
     batches.refill AS refill, batches.is_refused AS refused,
     (SELECT COUNT(*) FROM episodes WHERE episodes.group_key = groups.key) AS episodes
     FROM cohorts JOIN groups ON groups.cohort = cohorts.key
     LEFT JOIN batches ON batches.group_key = groups.key AND batches.is_abandoned = 0 LEFT JOIN steps ON steps.key = batches.step
     WHERE cohorts.state <> 'abandoned' ORDER BY cohorts.key`,
  ) as Group[];
  const events = rows("SELECT number, at, kind, subject, step FROM events ORDER BY number") as Event[];
  database.close();
  const faults: string[] = [];
  assertFates(groups, learnt, faults);
  const taken = groups.filter(({ step }) => step !== null);
  return {
    faults,
    opened: groups.length,
    learnt: taken.filter(({ refused }) => refused === 0).length,
    refused: taken.filter(({ refused }) => refused === 1).length,
    waiting: groups.length - taken.length,
    episodes: taken.reduce((sum, { episodes }) => sum + episodes, 0),
    ...waitsOf(groups, events, learner, faults),
  };
}

/** Each opened group is learnt from, refused, or waits; none is in two batches, and the store agrees with what the takes returned. */
function assertFates(groups: readonly Group[], learnt: ReadonlyMap<number, readonly string[]>, faults: string[]): void {
  const numbers = groups.map(({ id }) => Number(id.split("/")[2])).toSorted((one, other) => one - other);
  if (numbers.some((number, i) => number !== i + 1)) faults.push("the opened groups are not 1 to n");
  const stored = Map.groupBy(groups, ({ step }) => step);
  for (const [step, ids] of learnt) {
    const kept = (stored.get(step) ?? []).filter(({ refused }) => refused === 0).map(({ id }) => id);
    if (kept.toSorted().join() !== ids.toSorted().join()) faults.push(`the store has other groups of take ${step}`);
  }
  const returned = [...learnt.values()].flat();
  if (new Set(returned).size !== returned.length) faults.push("a group was learnt from twice");
  if ([...stored.keys()].some((step) => step !== null && !learnt.has(step))) faults.push("a batch was not returned");
}

function waitsOf(
  groups: readonly Group[],
  events: readonly Event[],
  learner: string,
  faults: string[],
): Pick<FleetRecord, "lost" | "waits" | "longestLeaseMs" | "largestBuffer"> {
  const byTake = Map.groupBy(groups, ({ step, refill }) => `${step}/${refill}`);
  const refills = new Map<number, number>();
  const [opened, played] = [new Map<string, number>(), new Map<string, number>()];
  const leasedAt = new Map<string, number>();
  const [open, outstanding] = [new Set<string>(), new Set<string>()];
  // A cohort that was abandoned is opened again under its id: only its last life counts.
  const lastOpened = new Map(
    events.flatMap(({ kind, subject, number }) => (kind === "opened" ? [[subject, number]] : [])),
  );
  let [takes, toBePlayed, afterPlay, largest, lost, now] = [0, 0, 0, 0, 0, 0];
  for (const { number, at, kind, subject, step } of events) {
    now = at;
    if (number < (lastOpened.get(subject) ?? 0)) continue;
    if (kind === "opened") {
      opened.set(subject, takes);
      open.add(subject);
      outstanding.add(subject);
    } else if (kind === "leased") {
      const [oldest] = open;
      if (open.delete(subject)) {
        toBePlayed = Math.max(toBePlayed, takes - (opened.get(subject) as number));
        if (oldest !== subject) faults.push(`${subject} was leased before ${oldest}, which was opened earlier`);
      } else lost++;
      leasedAt.set(subject, at);
    } else if (kind === "committed") played.set(subject, takes);
    else if (kind === "taken" && subject === learner) {
      const refill = refills.get(step) ?? 0;
      refills.set(step, refill + 1);
      for (const { cohort } of byTake.get(`${step}/${refill}`) ?? []) {
        afterPlay = Math.max(afterPlay, takes - (played.get(cohort) as number));
        outstanding.delete(cohort);
      }
      if (refill === 0) takes++;
    }
    largest = Math.max(largest, outstanding.size);
  }
  const underWay = groups
    .filter(({ state }) => state === "leased")
    .map(({ cohort }) => now - (leasedAt.get(cohort) as number));
  return {
    lost,
    waits: { "to be played": toBePlayed, "after it was played": afterPlay },
    longestLeaseMs: Math.max(0, ...underWay),
    largestBuffer: largest,
  };
}

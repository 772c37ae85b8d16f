/** The operations of a run on its store, repeated on another store with the same episodes. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Credit, JsonObject, TrajectoryGroup } from "@mrlm/spec";
import type { Cohort, EpisodeStore, PlayedBy } from "@mrlm/spec/host";
import { EpisodeReader, openEpisodeStore } from "@mrlm/store";
import { median } from "../train/measurement.ts";

const LEARNER = "0/policy";

/** Episodes, credits and metrics of a step of a run. */
export interface RecordedStep {
  readonly groups: readonly TrajectoryGroup[];
  readonly credits: readonly Credit[];
  readonly metrics: JsonObject;
}

/** Cost of the operations of a step. */
export interface StoreCost {
  /** CPU seconds of both threads: copies and messages in this one, encoding and SQLite in the other one. */
  readonly cpuSeconds: number;
  /** Seconds in which this thread waits for results. */
  readonly wallSeconds: number;
  /** Seconds of each call of `commit` and `take`. */
  readonly commits: readonly number[];
  readonly takes: readonly number[];
  readonly bytes: number;
}

/** Reads the steps of a run from its store. */
export function recordedSteps(directory: string): RecordedStep[] {
  const path = join(directory, "episodes.sqlite");
  const reader = new EpisodeReader({ path });
  const bySteps = Map.groupBy(reader.read(), ({ step }) => step);
  reader.close();
  const database = new DatabaseSync(path, { readOnly: true });
  const credits = database.prepare(
    "SELECT episode, agent, advantage FROM v_credits JOIN v_steps USING (learner, step) WHERE run_step = ? AND state <> 'abandoned'",
  );
  const metrics = database.prepare("SELECT content FROM metrics WHERE step = ?");
  const steps = Array.from(bySteps, ([step, episodes]): RecordedStep => ({
    groups: Array.from(
      Map.groupBy(
        episodes.map(({ trajectory }) => trajectory),
        ({ group }) => group,
      ),
      ([id, trajectories]) => ({
        id,
        task: trajectories[0]?.task ?? "",
        players: playersOf(trajectories),
        trajectories,
      }),
    ),
    credits: credits.all(step).map((row) => ({
      trajectory: String(row["episode"]),
      agent: String(row["agent"]),
      advantage: Number(row["advantage"]),
    })),
    metrics: JSON.parse(String(metrics.get(step)?.["content"] ?? "{}")) as JsonObject,
  }));
  database.close();
  return steps;
}

function playersOf(trajectories: TrajectoryGroup["trajectories"]): Record<string, PlayedBy> {
  return Object.fromEntries(
    trajectories.flatMap(({ agents }) => Object.values(agents)).map(({ role, player }) => [role, player]),
  );
}

/** Measures a store with the steps, the first one as a warm-up: median over the steps. */
export async function storeCost(steps: readonly RecordedStep[]): Promise<StoreCost> {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-bench-"));
  const path = join(folder, "episodes.sqlite");
  const store = await openEpisodeStore({ path, run: "bench", purpose: "train", endsLeases: true });
  const costs: { cpu: number; wall: number; commit: number; take: number }[] = [];
  for (const [i, step] of steps.entries()) {
    const [before, began] = [process.cpuUsage(), performance.now()];
    const { commit, take } = await writeStep(store, i + 1, step);
    const [after, ended] = [process.cpuUsage(before), performance.now()];
    costs.push({ cpu: (after.user + after.system) / 1e6, wall: (ended - began) / 1000, commit, take });
  }
  await store.close();
  const { size } = statSync(path);
  rmSync(folder, { recursive: true });
  const measured = costs.slice(1);
  return {
    cpuSeconds: median(measured.map(({ cpu }) => cpu)),
    wallSeconds: median(measured.map(({ wall }) => wall)),
    commits: measured.map(({ commit }) => commit),
    takes: measured.map(({ take }) => take),
    bytes: size / steps.reduce((sum, { groups }) => sum + episodesIn(groups), 0),
  };
}

/** All operations of a step, as `mrlm train` calls them. Returns the seconds of two of them. */
export async function writeStep(
  store: EpisodeStore,
  step: number,
  { groups, credits, metrics }: RecordedStep,
): Promise<{ readonly commit: number; readonly take: number }> {
  const { environment = "", seed = null } = groups[0]?.trajectories[0] ?? {};
  const cohort: Cohort = {
    id: `bench/${step}`,
    stage: "grpo",
    learner: LEARNER,
    step,
    refill: 0,
    place: [0, 0],
    environment,
    runStep: step,
    versions: { policy: step },
    checksum: String(step),
    groups: groups.map(({ id, task, trajectories }) => ({ id, task, seed, size: trajectories.length })),
  };
  const rule = { from: "cohorts", checksum: cohort.checksum } as const;
  const record = { runStep: step, iteration: step, version: step, tasks: { drawn: [step], positions: [step] } };
  const take = (): ReturnType<EpisodeStore["take"]> =>
    store.take(LEARNER, { step, refill: 0 }, groups.length, rule, record);
  await store.announce({ policy: "policy", version: step, step, checksum: cohort.checksum });
  if ((await take()) !== "unready") throw new Error("a batch was ready before it was played");
  await store.open(cohort);
  const [lease] = await store.lease("trainer", 1, 60_000);
  if (lease === undefined) throw new Error("nothing to lease");
  const began = performance.now();
  await store.commit(lease, groups, { isLast: true });
  const committed = performance.now();
  if (typeof (await take()) === "string") throw new Error("a batch was not ready after it was played");
  const taken = performance.now();
  await store.settle(LEARNER, step, { credits, isApplied: true });
  await store.mirror([{ ...metrics, step }]);
  return { commit: (committed - began) / 1000, take: (taken - committed) / 1000 };
}

export function episodesIn(groups: readonly TrajectoryGroup[]): number {
  return groups.reduce((sum, { trajectories }) => sum + trajectories.length, 0);
}

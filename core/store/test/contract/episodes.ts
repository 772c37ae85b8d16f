import { expect, test } from "@jest/globals";
import type { Trajectory, TrajectoryGroup } from "@mrlm/spec";
import type { EpisodeStore } from "@mrlm/spec/host";
import fc from "fast-check";
import { encodeJson } from "../../src/json.ts";
import { cohort, largeGroup, playedGroups, record } from "../support/episodes.ts";
import { anyGroup } from "./any-groups.ts";
import type { StoreHarness } from "./store-place.ts";
import { LEARNER, leased, take, usePlace } from "./use-place.ts";

/** Tests that episodes are read as they were committed. */
export function describeEpisodes(harness: StoreHarness): void {
  const { open } = usePlace(harness);

  test("groups are read back bit for bit by another process, with every member in its order", async () => {
    // The process that ends leases may return what it holds in memory.
    const [players, taker] = [await open(), await open({ endsLeases: false })];
    for (const [i, group] of fc.sample(anyGroup(1), { numRuns: harness.groups, seed: 11 }).entries())
      await compare(players, taker, i + 1, renamed(group, i + 1));
  });

  test("episodes of 0.8 MB are read as they were committed", async () => {
    const [players, taker] = [await open(), await open({ endsLeases: false })];
    const lease = await leased(players, cohort(LEARNER, 1));
    const groups = playedGroups(lease.cohort, 1).map((group) => largeGroup(group, 20_000));
    expect(await players.commit(lease, groups, { isLast: true })).toBe("accepted");
    const batch = await take(taker, 1);
    if (typeof batch === "string") throw new Error(batch);
    // Comparing large arrays by `toEqual` takes seconds.
    expect(textOf(batch.groups) === textOf(groups)).toBe(true);
  });
}

/** Rewards and segments as JSON. */
function textOf(groups: readonly TrajectoryGroup[]): string {
  return encodeJson(
    groups.flatMap(({ trajectories }) =>
      trajectories.flatMap(({ agents }) =>
        Object.values(agents).map(({ segments, total }) => [
          total.scored ? total.value : null,
          ...segments.map(({ tokens, logprobs, mask, versions, parent }) => [
            parent,
            ...[tokens, logprobs, mask, versions].map(bytesOf),
          ]),
        ]),
      ),
    ),
  );
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array | Float32Array | Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

async function compare(
  players: EpisodeStore,
  taker: EpisodeStore,
  step: number,
  group: TrajectoryGroup,
): Promise<void> {
  const lease = await leased(players, cohort(LEARNER, step, 0, { groups: 1 }));
  await players.commit(lease, [group], { isLast: true });
  const rule = { from: "cohorts", checksum: `sum-${step}` } as const;
  const batch = await taker.take(LEARNER, { step, refill: 0 }, 1, rule, record(step));
  if (typeof batch === "string") throw new Error(batch);
  const [read] = batch.groups;
  expect(read).toStrictEqual(group);
  expect(read?.trajectories.map(shapeOf)).toEqual(group.trajectories.map(shapeOf));
}

/** A group of step 1 as that of another step. */
function renamed(group: TrajectoryGroup, step: number): TrajectoryGroup {
  const [plan] = cohort(LEARNER, step, 0, { groups: 1 }).groups;
  const id = plan?.id as string;
  const trajectories = group.trajectories.map((each) => ({ ...each, id: `${id}/${each.member}`, group: id }));
  return { ...group, id, trajectories };
}

/** The order of members, which algorithms iterate over. */
function shapeOf({ agents, turns }: Trajectory): unknown {
  return [Object.keys(agents), turns.map(({ rewards }) => Object.keys(rewards))];
}

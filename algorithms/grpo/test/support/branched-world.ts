import { score } from "@mrlm/kit";
import type { Trajectory, TurnRecord } from "@mrlm/spec";
import { asEpisode, type Path, pathsOf, type World } from "./enumerated-world.ts";

type Branches = NonNullable<TurnRecord["branches"]>;

/** Branches of the turns of a path, by turn, with their probability given the path. */
export interface Branched {
  readonly probability: number;
  readonly branches: readonly (Branches | undefined)[];
}

/** Branches to play, as `PlayPlan.branches`. Each fails with a probability. */
export interface BranchOptions {
  readonly count: number;
  readonly every?: number;
  readonly failing?: number;
}

/** Returns every outcome of the branches of a path. Branches of equal returns are one outcome. */
export function branchedPaths(
  world: World,
  { steps }: Path,
  { count, every = 1, failing = 0 }: BranchOptions,
): Branched[] {
  let all: Branched[] = [{ probability: 1, branches: [] }];
  for (const [turn, { state }] of steps.entries()) {
    const own = turn === 0 || turn % every !== 0 ? undefined : outcomesOf(world, state, world.turns - turn, failing);
    let played: { readonly probability: number; readonly records: Branches }[] = [{ probability: 1, records: [] }];
    for (let left = own === undefined ? 0 : count; left > 0; left--)
      played = played.flatMap(({ probability, records }) =>
        (own ?? []).map(([record, chance]) => ({ probability: probability * chance, records: [...records, record] })),
      );
    all = all.flatMap(({ probability, branches }) =>
      played.map((each) => ({
        probability: probability * each.probability,
        branches: [...branches, own && each.records],
      })),
    );
  }
  return all;
}

function outcomesOf(world: World, state: string, left: number, failing: number): [Branches[number], number][] {
  const chances = new Map<number, number>();
  for (const { probability, steps } of pathsOf(world, state, left)) {
    const earned = steps.reduce((sum, { reward }) => sum + reward, 0);
    chances.set(earned, (chances.get(earned) ?? 0) + probability);
  }
  const scored = [...chances].map(([earned, chance]): [Branches[number], number] => [
    { rewards: { agent: score(earned) }, turns: 1, tokens: 1, repeated: 1 },
    chance * (1 - failing),
  ]);
  const error = { code: "ENVIRONMENT_FAILED", message: "broken" };
  return failing === 0 ? scored : [...scored, [{ rewards: {}, turns: 0, tokens: 0, repeated: 1, error }, failing]];
}

/** Returns a path as an episode with branches. */
export function asBranchedEpisode(world: World, path: Path, branches: Branched["branches"] = []): Trajectory {
  const episode = asEpisode(world, path);
  const turns = episode.turns.map((turn, k) => {
    const own = branches[k];
    return own === undefined ? turn : { ...turn, branches: own };
  });
  return { ...episode, turns };
}

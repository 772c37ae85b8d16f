import { expect, test } from "@jest/globals";
import { score, unscored } from "@mrlm/kit";
import type { AlgorithmContext } from "@mrlm/kit/learning";
import type { AgentTrajectory, Trajectory } from "@mrlm/spec";
import type { SharedReward } from "@mrlm/spec/host";
import { collectPairs } from "../src/episode-pairs.ts";
import { dpoOptions } from "../src/options.ts";

const player = { kind: "policy", name: "policy", policy: "policy" } as const;

function part(role: string, total: AgentTrajectory["total"], shared?: SharedReward): AgentTrajectory {
  const segment = {
    tokens: Int32Array.of(1, 2),
    logprobs: Float32Array.of(0, -1),
    mask: Uint8Array.of(0, 1),
    versions: Int32Array.of(-1, 1),
    parent: null,
  };
  const end = { terminated: true, truncated: false };
  return { role, player, segments: [segment], total, ...(shared === undefined ? {} : { shared }), end };
}

function episode(id: string, agents: Trajectory["agents"]): Trajectory {
  const place = { environment: "test@1", task: "train/0", seed: 0, group: "g", member: 0 } as const;
  return { ...place, id, agents, turns: [], seconds: { sampling: 0, environment: 0 } };
}

async function pairsOf(...trajectories: readonly Trajectory[]) {
  const groups = [{ id: "g", task: "train/0" as const, players: { main: player, browser: player }, trajectories }];
  const context = { policy: "policy", episodes: { take: async () => ({ groups }) } } as unknown as AlgorithmContext;
  const { pairs, counts } = await collectPairs(context, dpoOptions.parse({ steps: 1, prompts: 1, pairs_per_group: 4 }));
  const name = (of: { trajectory: string; agent: string } | undefined): string => `${of?.trajectory} ${of?.agent}`;
  return { counts, pairs: pairs.map(({ parts }) => `${name(parts?.chosen)} > ${name(parts?.rejected)}`) };
}

test("pairs are within a role: all browsers of a group's members, and the mains, are ranked apart", async () => {
  const one = episode("a", {
    main: part("main", score(1)),
    "browser#1": part("browser", score(0.5)),
    "browser#2": part("browser", score(0)),
  });
  const other = episode("b", {
    main: part("main", score(0)),
    "browser#1": part("browser", score(1)),
    "browser#2": part("browser", score(0.25)),
    "browser#3": part("browser", unscored("SCORER_FAILED", "down")),
  });
  const { pairs, counts } = await pairsOf(one, other);
  expect(pairs).toEqual(["a main > b main", "b browser#1 > a browser#2", "a browser#1 > b browser#2"]);
  expect(counts).toMatchObject({ unscored: 1, failed: 0 });
});

test("shared rewards rank instead of totals", async () => {
  const shared = (value: number): SharedReward => ({ ...score(value), weights: { main: 1 } });
  const { pairs } = await pairsOf(
    episode("a", { "browser#1": part("browser", score(1), shared(0)) }),
    episode("b", { "browser#1": part("browser", score(0), shared(1)) }),
  );
  expect(pairs).toEqual(["b browser#1 > a browser#1"]);
});

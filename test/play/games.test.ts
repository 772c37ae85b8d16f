import { beforeAll, describe, expect, test } from "@jest/globals";
import nimPlugin from "@mrlm/environment-nim";
import signalsPlugin from "@mrlm/environment-signals";
import { grpo } from "@mrlm/grpo";
import { messageText } from "@mrlm/kit";
import { learnableEpisodes, noEpisodeCounts } from "@mrlm/kit/learning";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import type {
  AgentId,
  AgentTrajectory,
  EnvironmentDefinition,
  JsonObject,
  ModelId,
  Plugin,
  Trajectory,
  TrajectoryGroup,
} from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";
import { recordingEngine, trainBigram } from "@mrlm/testing";
import { opponentDirectory, RIVAL_TOKENIZER } from "./support/opponent.ts";
import { playFaults, Provenance, trainedTokens } from "./support/provenance.ts";
import { nimReferee, type Referee, refereeFaults, signalsReferee } from "./support/referee.ts";

/** Characters of the games, in another order than in the tokenizer of the rival. */
const ALPHABET = { alphabet: "abcd0123456789-" };
const renderers: Readonly<Record<ModelId, ReturnType<typeof chatRenderer>>> = {
  policy: chatRenderer({ tokenizerFiles: characterTokenizerFiles(ALPHABET), eosTokenIds: [1] }),
  "frozen-0": chatRenderer({ tokenizerFiles: characterTokenizerFiles(RIVAL_TOKENIZER), eosTokenIds: [1] }),
};
const modelOf = ({ kind }: PlayedBy): ModelId | undefined =>
  ({ policy: "policy", model: "frozen-0" })[kind as string] as ModelId | undefined;

interface Game {
  readonly definition: EnvironmentDefinition;
  readonly options: JsonObject;
  readonly roles: readonly [string, string];
  readonly referee: Referee;
}

const only = ({ environments }: Plugin): EnvironmentDefinition => environments?.[0] as EnvironmentDefinition;

const GAMES: readonly (readonly [string, Game])[] = [
  [
    "nim@1",
    { definition: only(nimPlugin), options: { style: "terse" }, roles: ["first", "second"], referee: nimReferee },
  ],
  [
    "signals@1",
    {
      definition: only(signalsPlugin),
      options: { style: "terse", meanings: 4, symbols: 4, sender_reward: "none" },
      roles: ["sender", "receiver"],
      referee: signalsReferee,
    },
  ],
] as const;

let rival: string;
beforeAll(async () => {
  rival = await opponentDirectory();
});

/** Plays one batch of grpo: the policy in both roles, or against a frozen opponent in the second. */
async function play({ definition, options, roles }: Game, against: "itself" | "a rival", changed = definition) {
  const { engine, asked } = recordingEngine();
  const players: JsonObject =
    against === "itself" ? {} : { players: { [roles[1]]: { model: rival } }, sides: "shuffle" };
  const { played } = await trainBigram({
    algorithms: [grpo],
    environments: [changed],
    stages: [{ algorithm: "grpo", steps: 1, prompts_per_step: 8, group_size: 4, learning_rate: 0.1 }],
    config: {
      model: { random: { config: { initializer_range: 0.5 }, tokenizer: { characters: ALPHABET } } },
      environments: [{ id: definition.id, options, ...players }],
      sampling: { max_tokens: 1 },
    },
    engine,
  });
  return { groups: played.flat(), asked };
}
type Played = Awaited<ReturnType<typeof play>>;

const readTokens = (player: PlayedBy, tokens: Int32Array): string | undefined => {
  const renderer = renderers[modelOf(player) ?? ""];
  return renderer === undefined ? undefined : messageText(renderer.parse(tokens));
};
const faultsOf = ({ groups, asked }: Played, referee: Referee): string[] => [
  ...playFaults(groups, asked.samples, modelOf),
  ...refereeFaults(
    groups.flatMap(({ trajectories }) => trajectories),
    referee,
    readTokens,
  ),
];

/** Returns the play with other parts in each episode. */
const withParts = (
  played: Played,
  change: (
    agents: readonly (readonly [AgentId, AgentTrajectory])[],
  ) => readonly (readonly [AgentId, AgentTrajectory])[],
): Played => ({
  ...played,
  groups: played.groups.map((group) => ({
    ...group,
    trajectories: group.trajectories.map((each) => ({
      ...each,
      agents: Object.fromEntries(change(Object.entries(each.agents))),
    })),
  })),
});

/** Returns the environment with the names of its two roles exchanged in what it returns and receives. */
function mutant({ definition, roles: [one, two] }: Game, what: "roles" | "rewards"): EnvironmentDefinition {
  const other = (agent: AgentId): AgentId => ({ [one]: two, [two]: one })[agent] ?? agent;
  const exchanged = <T>(byAgent: Readonly<Record<AgentId, T>>): Record<AgentId, T> =>
    Object.fromEntries(Object.entries(byAgent).map(([agent, value]) => [other(agent), value]));
  const named = (agent: AgentId): AgentId => (what === "roles" ? other(agent) : agent);
  return {
    ...definition,
    async create(context, options) {
      const inner = await definition.create(context, options);
      return {
        reset: async (at) => {
          const observation = await inner.reset(at);
          return { ...observation, agent: named(observation.agent) };
        },
        step: async (action, at) => {
          const result = await inner.step({ ...action, agent: named(action.agent) }, at);
          const { agent } = result.observation;
          return {
            ...result,
            observation: { ...result.observation, agent: named(agent) },
            rewards: exchanged(result.rewards),
          };
        },
      };
    },
  };
}

describe.each(GAMES)("%s", (_id, game) => {
  let self: Played;
  let against: Played;
  beforeAll(async () => {
    self = await play(game, "itself");
    against = await play(game, "a rival");
  });

  test("games of the policy with itself and with a rival follow the rules, down to the tokens", () => {
    for (const played of [self, against]) {
      expect(played.groups.flatMap(({ trajectories }) => trajectories)).toHaveLength(32);
      expect(faultsOf(played, game.referee)).toEqual([]);
      expect(trainedTokens(played.asked, "policy").foreign).toBe(0);
    }
    const turns = self.groups.flatMap(({ trajectories }) => trajectories.map((each) => each.turns.length));
    expect(Math.max(...turns)).toBeGreaterThan(1);
  });

  test("mutation, swapped roles: an environment that names the other role is found by the order of turns", async () => {
    const played = await play(game, "itself", mutant(game, "roles"));
    expect(faultsOf(played, game.referee)).toContainEqual(expect.stringMatching(/: roles: turns of /));
  });

  test("mutation, swapped roles: parts of two agents that are exchanged in the record are found by their tokens", () => {
    const exchanged = withParts(self, ([one, two]) => [
      [one?.[0] as AgentId, { ...one?.[1], segments: two?.[1].segments } as AgentTrajectory],
      [two?.[0] as AgentId, { ...two?.[1], segments: one?.[1].segments } as AgentTrajectory],
    ]);
    expect(faultsOf(exchanged, game.referee)).toContainEqual(expect.stringMatching(/: tokens: turn \d+ of /));
  });

  test("mutation, swapped rewards: an environment that rewards the other role is found by the rules", async () => {
    const played = await play(game, "itself", mutant(game, "rewards"));
    expect(faultsOf(played, game.referee)).toContainEqual(expect.stringMatching(/: rewards: \S+ earned /));
  });

  test("mutation, swapped masks: prompts that are learnt in place of answers are found", () => {
    const inverted = withParts(self, (agents) =>
      agents.map(([agent, part]) => [
        agent,
        { ...part, segments: part.segments.map((each) => ({ ...each, mask: each.mask.map((chosen) => 1 - chosen) })) },
      ]),
    );
    const found = faultsOf(inverted, game.referee);
    expect(found).toContainEqual(expect.stringMatching(/: masks: those of \S+ are not its sampled tokens/));
    expect(found).toContainEqual(expect.stringMatching(/tokens that policy has not sampled/));
  });

  test("mutation, the opponent's tokens in the batch: a part that is recorded as the policy's is found in what is learnt", () => {
    const foreignOf = (groups: readonly TrajectoryGroup[]): number => {
      const provenance = new Provenance(against.asked.samples);
      const rules = { policy: "policy", dropCut: false };
      return groups
        .flatMap(({ trajectories }) => trajectories)
        .flatMap((each: Trajectory) => learnableEpisodes(each, rules, noEpisodeCounts()))
        .flatMap(({ rows }) => rows)
        .reduce((sum, row) => sum + provenance.foreignTokens(row, "policy"), 0);
    };
    const policy: PlayedBy = { kind: "policy", name: "policy", policy: "policy" };
    const claimed = withParts(against, (agents) => agents.map(([agent, part]) => [agent, { ...part, player: policy }]));
    expect(foreignOf(against.groups)).toBe(0);
    expect(foreignOf(claimed.groups)).toBeGreaterThan(0);
    expect(faultsOf(claimed, game.referee)).toContainEqual(expect.stringMatching(/tokens that policy has not sampled/));
  });

  test("mutation, a group with two different opponents: the member with another opponent is named", () => {
    const other: PlayedBy = { kind: "model", name: "another rival" };
    const groups = against.groups.map((group) => ({
      ...group,
      trajectories: group.trajectories.map((each, member) => {
        const parts = Object.entries(each.agents).map(([agent, part]) => [
          agent,
          member === 1 && part.player.kind === "model" ? { ...part, player: other } : part,
        ]);
        return { ...each, agents: Object.fromEntries(parts) as Trajectory["agents"] };
      }),
    }));
    const found = faultsOf({ ...against, groups }, game.referee);
    expect(found).toHaveLength(groups.length);
    expect(found[0]).toMatch(/\/1 \S+: played by another rival, and its group by /);
  });
});

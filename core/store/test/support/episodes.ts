import type { Segment, Trajectory, TrajectoryGroup } from "@mrlm/spec";
import type { Cohort, PlannedGroup, PlayedBy, TakeRecord } from "@mrlm/spec/host";

export const POLICY: PlayedBy = { kind: "policy", name: "policy", policy: "policy", version: 7 };

/** Record of the take of a step. */
export function record(step: number): TakeRecord {
  return { runStep: step, iteration: step, version: step, tasks: { position: step } };
}

/** A cohort of `groups` groups with `size` members each. */
export function cohort(
  learner: string,
  step: number,
  refill = 0,
  options: { groups?: number; size?: number; part?: number; suffix?: string } = {},
): Cohort {
  const { groups = 2, size = 2, part = 0, suffix = "" } = options;
  const id = `${learner}/${step}/${refill}/${part}${suffix}`;
  return {
    id,
    stage: "stage",
    learner,
    step,
    refill,
    place: [0, part],
    environment: "game@1",
    runStep: step,
    versions: { policy: step },
    checksum: `sum-${step}`,
    groups: Array.from({ length: groups }, (_, i): PlannedGroup => ({
      id: `${id}/g${i}`,
      task: `train/${i}`,
      seed: i,
      size,
    })),
  };
}

/** The groups of a cohort, played; `salt` changes their tokens. */
export function playedGroups({ groups, environment }: Cohort, salt: number): TrajectoryGroup[] {
  return groups.map(({ id, task, seed, size }) => ({
    id,
    task,
    players: { agent: POLICY },
    trajectories: Array.from({ length: size }, (_, member): Trajectory =>
      episode({ id: `${id}/${member}`, group: id, task, seed, member, environment }, salt),
    ),
  }));
}

function episode(
  identity: Pick<Trajectory, "id" | "group" | "task" | "seed" | "member" | "environment">,
  salt: number,
): Trajectory {
  const tokens = Int32Array.from([1, 2, 3 + salt, 4, 5]);
  const total = { scored: true as const, value: identity.member, components: { correct: 1 } };
  return {
    ...identity,
    turns: [
      {
        agent: "agent",
        messages: [{ role: "user", parts: [{ type: "text", text: `é ${salt}` }] }],
        difficulty: 3,
        response: { role: "assistant", parts: [{ type: "text", text: "answer" }] },
        tokens: { segment: 0, start: 2, end: 5 },
        stopReason: "stop",
        rewards: { agent: total },
      },
    ],
    agents: {
      agent: {
        role: "agent",
        player: POLICY,
        segments: [
          {
            tokens,
            logprobs: Float32Array.from([0, 0, -0.5, -1.25, -3]),
            mask: Uint8Array.from([0, 0, 1, 1, 1]),
            versions: Int32Array.from([-1, -1, 7, 7, 8]),
            parent: null,
          },
        ],
        total,
        end: { terminated: true, truncated: false },
      },
    },
    info: { salt },
    seconds: { sampling: 0.5, environment: 0.25, ...(salt % 2 === 0 ? {} : { players: 1.5 }) },
  };
}

/** A group whose segments have so many tokens, with everything that an episode may have. */
export function largeGroup(group: TrajectoryGroup, tokens: number): TrajectoryGroup {
  const segment = (parent: number | null): Segment => ({
    tokens: Int32Array.from({ length: tokens }, (_, i) => i - 3),
    logprobs: Float32Array.from({ length: tokens }, (_, i) => -i / 7),
    mask: Uint8Array.from({ length: tokens }, (_, i) => Number(i % 3 > 0)),
    versions: Int32Array.from({ length: tokens }, (_, i) => (i % 3 > 0 ? i % 2 : -1)),
    parent,
  });
  const trajectories = group.trajectories.map((each): Trajectory => {
    const { agent } = each.agents;
    if (agent === undefined) throw new Error("an episode without an agent");
    return {
      ...each,
      seed: each.member === 0 ? null : 2 ** 40,
      agents: {
        agent: {
          ...agent,
          segments: [segment(null), segment(0)],
          total: { scored: true, value: -0, components: {} },
          shared: { rule: "mean", value: 0.5 } as never,
        },
        other: { ...agent, segments: [], end: { terminated: false, truncated: true, truncatedBy: "turns" } },
      },
      info: { $odd: [1, null] },
      ...(each.member === 1 ? { error: { code: "ENVIRONMENT_FAILED", message: "ö" } } : {}),
      seconds: { sampling: 0.1, environment: 0, players: 3 },
    };
  });
  return { ...group, trajectories };
}

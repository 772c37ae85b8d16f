import type { Cohort, PlannedGroup, PlayedBy, TakeRecord, Trajectory, TrajectoryGroup } from "@mrlm/spec";

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

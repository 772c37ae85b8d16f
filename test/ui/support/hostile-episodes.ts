import type { Message, Reward, Segment, Trajectory, TrajectoryGroup, TurnRecord } from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";

/** Returns a group of one episode with a text in every place that can hold one. */
export function hostileGroup(text: string, index: number): TrajectoryGroup {
  const id = `hostile/${index}`;
  const task = `hostile/${index} ${text.slice(0, 200)}`;
  const role = `role${index}`;
  const player: PlayedBy = { kind: "endpoint", name: text.slice(0, 1_000) };
  const reward: Reward = { scored: true, value: index / 40, components: { [text.slice(0, 100)]: 1 } };
  const unscored: Reward = { scored: false, code: "SCORER_FAILED", message: text };
  const message = (by: Message["role"], ...parts: Message["parts"]): Message => ({ role: by, name: text, parts });
  const turn: TurnRecord = {
    agent: "agent",
    messages: [
      message("system", { type: "text", text }),
      message("user", { type: "image", mediaType: text, source: { url: text } }),
      message("tool", { type: "tool-result", id: text, name: text, content: [{ type: "text", text }], isError: true }),
    ],
    tools: [{ name: text, description: text, parameters: { type: "object" } }],
    response: message(
      "assistant",
      { type: "thinking", text },
      { type: "text", text },
      { type: "tool-call", id: text, name: text, arguments: { [text]: text } },
      { type: "malformed-call", text, format: "hermes", error: text, offset: 0 },
    ),
    tokens: { segment: 0, start: 1, end: 2 },
    stopReason: "stop",
    rewards: { agent: index % 2 === 0 ? reward : unscored },
  };
  const trajectory: Trajectory = {
    id,
    environment: "letters@1",
    task,
    seed: index,
    group: `group/${index}`,
    member: 0,
    turns: [turn],
    agents: {
      agent: {
        role,
        player,
        segments: [segment()],
        total: index % 2 === 0 ? reward : unscored,
        end: { terminated: true, truncated: false },
      },
    },
    ...(index % 3 === 0 && { error: { code: "ENVIRONMENT_FAILED", message: text } }),
    info: {
      [text]: text,
      agent: {
        ...{ calls: 1, segments: 1, rewritten: 0, forked: 0, retried: 1, refused: 0 },
        wasted: [0],
        turns: [{ call: 0, match: text, parent: null, at: 0, seconds: 1, retries: [1], unread: text }],
      },
      judgements: [
        { scorer: text, step: 0, agent: "agent", verdict: text, reason: text, extracted: text, reward } as never,
      ],
    },
    seconds: { sampling: 0.5, environment: 0.25 },
  };
  return { id: `group/${index}`, task, players: { [role]: player }, trajectories: [trajectory] };
}

function segment(): Segment {
  return {
    tokens: Int32Array.from([1, 2]),
    logprobs: Float32Array.from([0, -0.5]),
    mask: Uint8Array.from([0, 1]),
    versions: Int32Array.from([-1, 3]),
    parent: null,
  };
}

/** Returns a member of a run whose id, address and capabilities are a hostile text. */
export function hostileMember(text: string) {
  const id = text.slice(0, 1_000);
  return { id, kind: "rollouts", address: text, capabilities: { [id]: id } } as const;
}

import { type JsonValue, MrlmError, type Trajectory } from "@mrlm/spec";
import type { JudgementRecord, PlayedBy, SharedReward } from "@mrlm/spec/host";
import { z } from "zod";
import { gradesOf, judgementsOf } from "../learning/judgements.ts";
import { toolUsageOf } from "../learning/tool-usage.ts";
import { type ChatMessage, chatMessage, toChatMessages } from "./chat-message.ts";
import { chatTools, toChatTools } from "./chat-tools.ts";

const failure = z.object({ code: z.string(), message: z.string() });
const integers = z.array(z.int());

const player = z.object({
  kind: z.enum(["policy", "past", "model", "endpoint", "scripted"]),
  name: z.string(),
  /** For the kinds `policy` and `past`. */
  policy: z.string().nullish(),
  version: z.int().nullish(),
});

const segment = z.object({
  tokens: integers,
  /** Log-probabilities of the sampler; `null` where one is not finite. */
  logprobs: z.array(z.number().nullable()),
  mask: integers,
  versions: integers,
  parent: z.int().nullable(),
});

const turn = z.object({
  /** Position of the sampled tokens, from `start` to before `end`; `null` where a script or an endpoint acted. */
  segment: z.int().nullable(),
  start: z.int().nullable(),
  end: z.int().nullable(),
  stop_reason: z.string(),
  reward: z.number().nullable(),
});

/** Calls of one tool, without seconds: an equal episode has an equal row. */
const toolUsage = z.object({ name: z.string(), calls: z.int(), errors: z.int(), truncated: z.int() });

/** Judgement of a step, counted from 0, with the reward of the row's agent: `null` if it is unscored or of other agents alone. */
const judgement = z.object({
  judge: z.string(),
  step: z.int(),
  verdict: z.string(),
  reason: z.string(),
  reward: z.number().nullable(),
});

/** Grade of an answer of the row's agent: `null` as reward if it is unscored. */
const grade = z.object({
  scorer: z.string(),
  step: z.int(),
  verdict: z.string(),
  reason: z.string(),
  /** The answer that the scorer found in the text; `null` if it found none. */
  extracted: z.string().nullish(),
  reward: z.number().nullable(),
});

/** Reward that is learnt from where roles share rewards, with the weights of the agents. */
const shared = z.object({
  /** `null` if one of the rewards is unscored. */
  reward: z.number().nullable(),
  weights: z.array(z.object({ agent: z.string(), weight: z.number() })),
});

/** Schema of a recorded episode of one agent, a row of a JSONL or Parquet file: trajectory, down to the tokens, and reward. */
export const recordedRow = z.object({
  id: z.string(),
  environment: z.string(),
  task: z.string(),
  seed: z.int().nullable(),
  /** Id of the group: episodes of the same task and seed. */
  group: z.string(),
  member: z.int(),
  agent: z.string(),
  role: z.string(),
  /** Only tokens of the kind `policy` are learnt from. `null` if no agent acted. */
  player: player.nullable(),
  /** Fingerprint of the renderer of the tokens; empty if the player has none. */
  renderer: z.string(),
  messages: z.array(chatMessage),
  /** Tools of the agent, the last ones if they changed. `null` if it had none. */
  tools: chatTools.nullish(),
  /** Indices in `messages` at which the agent's conversation started over. */
  fresh_at: integers.nullish(),
  segments: z.array(segment),
  turns: z.array(turn),
  /** `null` if unscored. */
  reward: z.number().nullable(),
  components: z.record(z.string(), z.number().nullable()).nullish(),
  /** Absent where the agent learns from `reward`. */
  shared: shared.nullish(),
  /** Calls of tools in the whole episode; absent if there were none. */
  tool_usage: z.array(toolUsage).nullish(),
  /** Judgements of the whole episode; absent if there were none. */
  judgements: z.array(judgement).nullish(),
  /** Grades of the agent's answers by scorers; absent if there were none. */
  grades: z.array(grade).nullish(),
  terminated: z.boolean(),
  truncated: z.boolean(),
  truncated_by: z.string().nullish(),
  /** Cause of an unscored reward. */
  unscored: failure.nullish(),
  /** Cause of a failed episode. The other fields then end before the failure. */
  error: failure.nullish(),
});

/** Parsed {@link recordedRow}. */
export type RecordedRow = z.output<typeof recordedRow>;

/** Returns true if a row of a data file has the form of a recorded row. */
export function isRecordedRow(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && "segments" in value;
}

/** Parses a row. Throws DATA_INVALID with the place of the row. */
export function parseRecordedRow(value: JsonValue, place: string): RecordedRow {
  const parsed = recordedRow.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new MrlmError("DATA_INVALID", `${place} is not a recorded episode: ${z.prettifyError(parsed.error)}`, {
    hint: "`mrlm collect` writes such files; docs/train/data.md has their form.",
  });
}

/**
 * Returns the rows of an episode, one for each agent. An episode that failed before its first observation has one row without an agent.
 * @param renderer returns the fingerprint of a player's renderer; empty for a player without one
 */
export function toRecordedRows(trajectory: Trajectory, renderer: (player: PlayedBy) => string): RecordedRow[] {
  const { id, environment, task, seed, group, member, error, turns } = trajectory;
  const used = Object.entries(toolUsageOf(trajectory)).map(([name, { seconds: _, ...counts }]) => ({
    name,
    ...counts,
  }));
  const common = {
    ...{ id, environment, task, seed, group, member, error: error ?? null },
    ...(used.length === 0 ? {} : { tool_usage: used }),
  };
  const judged = judgementsOf(trajectory);
  const agents = Object.entries(trajectory.agents);
  if (agents.length === 0)
    return [
      {
        ...common,
        agent: "",
        role: "",
        player: null,
        renderer: "",
        messages: [],
        tools: null,
        fresh_at: [],
        segments: [],
        turns: [],
        reward: null,
        components: {},
        terminated: false,
        truncated: false,
        truncated_by: null,
        unscored: null,
      },
    ];
  return agents.map(([agent, { role, player: playedBy, segments, total, shared: learnt, end }]) => {
    // An exhausted agent read and wrote nothing.
    const own = turns.filter((each) => each.agent === agent && each.stopReason !== "exhausted");
    const tools = own.findLast((each) => each.tools !== undefined)?.tools;
    const messages: ChatMessage[] = [];
    const freshAt: number[] = [];
    for (const turn of own) {
      if (turn.isFresh === true && messages.length > 0) freshAt.push(messages.length);
      messages.push(...[...turn.messages, turn.response].flatMap(toChatMessages));
    }
    return {
      ...common,
      ...(judged.length === 0 ? {} : { judgements: judged.map((each) => judgementFor(agent, each)) }),
      ...gradesFor(agent, trajectory),
      agent,
      role,
      player: playedBy,
      renderer: renderer(playedBy),
      messages,
      tools: tools === undefined || tools.length === 0 ? null : toChatTools(tools),
      fresh_at: freshAt,
      segments: segments.map(({ tokens, logprobs, mask, versions, parent }) => ({
        tokens: Array.from(tokens),
        logprobs: Array.from(logprobs, (value) => (Number.isFinite(value) ? value : null)),
        mask: Array.from(mask),
        versions: Array.from(versions),
        parent,
      })),
      turns: own.map(({ tokens, stopReason, rewards }) => {
        const earned = rewards[agent];
        return {
          segment: tokens?.segment ?? null,
          start: tokens?.start ?? null,
          end: tokens?.end ?? null,
          stop_reason: stopReason,
          reward: earned === undefined ? 0 : earned.scored ? earned.value : null,
        };
      }),
      // A failed episode has rewards of a part of its turns only.
      reward: total.scored && error === undefined ? total.value : null,
      components: total.scored && error === undefined ? { ...total.components } : {},
      ...(learnt === undefined ? {} : { shared: sharedOf(learnt, error !== undefined) }),
      terminated: end.terminated,
      truncated: end.truncated,
      truncated_by: end.truncatedBy ?? null,
      unscored: total.scored ? null : { code: total.code, message: total.message },
    };
  });
}

function judgementFor(
  agent: string,
  { judge, step, verdict, reason, rewards }: JudgementRecord,
): z.output<typeof judgement> {
  const reward = rewards[agent];
  return { judge, step, verdict, reason, reward: reward?.scored === true ? reward.value : null };
}

function gradesFor(agent: string, trajectory: Trajectory): Pick<RecordedRow, "grades"> {
  const grades = gradesOf(trajectory).flatMap((given) => {
    if (given.agent !== agent) return [];
    const { scorer, step, verdict, reason, extracted = null, reward } = given;
    return [{ scorer, step, verdict, reason, extracted, reward: reward.scored ? reward.value : null }];
  });
  return grades.length === 0 ? {} : { grades };
}

function sharedOf(learnt: SharedReward, isFailed: boolean): z.output<typeof shared> {
  return {
    reward: learnt.scored && !isFailed ? learnt.value : null,
    weights: Object.entries(learnt.weights).map(([agent, weight]) => ({ agent, weight })),
  };
}

import { type JsonValue, MrlmError, type Trajectory } from "@mrlm/spec";
import { z } from "zod";
import { chatMessage, toChatMessages } from "./chat-message.ts";

const failure = z.object({ code: z.string(), message: z.string() });
const integers = z.array(z.int());

const segment = z.object({
  tokens: integers,
  /** As the tokens were drawn; `null` where one was not finite. */
  logprobs: z.array(z.number().nullable()),
  mask: integers,
  versions: integers,
  parent: z.int().nullable(),
});

const turn = z.object({
  segment: z.int(),
  start: z.int(),
  end: z.int(),
  stop_reason: z.string(),
  reward: z.number().nullable(),
});

/** One agent's part of one recorded episode, as a row of a JSONL or Parquet file: the trajectory, down to the tokens, and what it earned. */
export const recordedRow = z.object({
  id: z.string(),
  environment: z.string(),
  task: z.string(),
  seed: z.int().nullable(),
  /** Episodes of the same task and seed share it. */
  group: z.string(),
  member: z.int(),
  agent: z.string(),
  /** Fingerprint of the renderer whose tokens these are. */
  renderer: z.string(),
  messages: z.array(chatMessage),
  segments: z.array(segment),
  turns: z.array(turn),
  /** `null` where it was not scored. */
  reward: z.number().nullable(),
  components: z.record(z.string(), z.number().nullable()).nullish(),
  terminated: z.boolean(),
  truncated: z.boolean(),
  truncated_by: z.string().nullish(),
  /** Why there is no reward. */
  unscored: failure.nullish(),
  /** Why the episode failed; then the rest is what there was before. */
  error: failure.nullish(),
});

/** A row as it is read. */
export type RecordedRow = z.output<typeof recordedRow>;

/** Whether a row of a data file is one of these. */
export function isRecordedRow(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && "segments" in value;
}

/** Throws DATA_INVALID with its place in the file. */
export function parseRecordedRow(value: JsonValue, place: string): RecordedRow {
  const parsed = recordedRow.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new MrlmError("DATA_INVALID", `${place} is not a recorded episode: ${z.prettifyError(parsed.error)}`, {
    hint: "`mrlm collect` writes such files; docs/guides/data.md has their form.",
  });
}

/** The rows of an episode, one for each agent; an episode that failed before anybody was shown anything has one without an agent. */
export function toRecordedRows(trajectory: Trajectory, renderer: string): RecordedRow[] {
  const { id, environment, task, seed, group, member, error, turns } = trajectory;
  const common = { id, environment, task, seed, group, member, renderer, error: error ?? null };
  const agents = Object.entries(trajectory.agents);
  if (agents.length === 0)
    return [
      {
        ...common,
        agent: "",
        messages: [],
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
  return agents.map(([agent, { segments, total, end }]) => {
    const own = turns.filter((each) => each.agent === agent);
    return {
      ...common,
      agent,
      messages: own.flatMap((turn) => [...turn.messages, turn.response].flatMap(toChatMessages)),
      segments: segments.map(({ tokens, logprobs, mask, versions, parent }) => ({
        tokens: Array.from(tokens),
        logprobs: Array.from(logprobs, (value) => (Number.isFinite(value) ? value : null)),
        mask: Array.from(mask),
        versions: Array.from(versions),
        parent,
      })),
      turns: own.map(({ segment: at, start, end: to, stopReason, rewards }) => {
        const earned = rewards[agent];
        return {
          segment: at,
          start,
          end: to,
          stop_reason: stopReason,
          reward: earned === undefined ? 0 : earned.scored ? earned.value : null,
        };
      }),
      // Part of a failed episode's rewards is not its reward.
      reward: total.scored && error === undefined ? total.value : null,
      components: total.scored && error === undefined ? { ...total.components } : {},
      terminated: end.terminated,
      truncated: end.truncated,
      truncated_by: end.truncatedBy ?? null,
      unscored: total.scored ? null : { code: total.code, message: total.message },
    };
  });
}

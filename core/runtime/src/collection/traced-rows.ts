import { createHash } from "node:crypto";
import { meanOf, meanValue, type RecordedRow } from "@mrlm/kit/learning";
import type { JsonObject, JsonValue } from "@mrlm/spec";
import { otlpSpans } from "./otlp-spans.ts";
import { type CallFault, type TracedCall, tracedCall, type TracedMessage } from "./traced-calls.ts";

/** Rows of production traces, and what was read for them. */
export interface TracedRows {
  /** Recorded episodes where any has a score, else conversations `{messages, tools}`. */
  readonly rows: readonly JsonValue[];
  readonly isScored: boolean;
  /** Calls of models. */
  readonly calls: number;
  /** Conversations: a call of the same trace that continues another one belongs to the same. */
  readonly conversations: number;
  /** Conversations without a score, where others have one. They are in no row. */
  readonly unscored: number;
  /** Calls that are left out, by reason. */
  readonly leftOut: Readonly<Partial<Record<CallFault, number>>>;
}

type Scores = Map<string, number[]>;

interface Conversation {
  readonly call: TracedCall;
  /** Hash of the first i + 1 messages, by i. */
  readonly hashes: readonly string[];
  readonly scores: Scores;
}

/** Event with a score, of the semantic conventions. */
const EVALUATION = "gen_ai.evaluation.result";

/**
 * Reads the conversations of production from traces. A score is that of an event `gen_ai.evaluation.result` at the call, or at a span around it; several of one name count by their
 * mean, and the reward is the mean over the names. Rejects with DATA_INVALID.
 */
export async function tracedRows(path: string): Promise<TracedRows> {
  const calls: TracedCall[] = [];
  const leftOut: Partial<Record<CallFault, number>> = {};
  const parents = new Map<string, string | undefined>();
  const scores = new Map<string, Scores>();
  for await (const span of otlpSpans(path)) {
    parents.set(span.id, span.parent);
    for (const { name, attributes } of span.events) if (name === EVALUATION) addScore(scores, span.id, attributes);
    const call = tracedCall(span);
    if (typeof call === "string") leftOut[call] = (leftOut[call] ?? 0) + 1;
    else if (call !== undefined) calls.push(call);
  }
  const merged = mergedCalls(
    calls.map((call) => ({ call, hashes: hashesOf(call.messages), scores: scoresAround(call.id, parents, scores) })),
  );
  const scored = merged.filter((each) => each.scores.size > 0);
  const isScored = scored.length > 0;
  return {
    rows: isScored
      ? recordedRows(scored)
      : merged.map(({ call: { messages, tools } }) => ({ messages, ...(tools && { tools }) }) as JsonValue),
    ...{ isScored, calls: calls.length, conversations: merged.length, leftOut },
    unscored: isScored ? merged.length - scored.length : 0,
  };
}

function addScore(scores: Map<string, Scores>, id: string, attributes: JsonObject): void {
  const value = attributes["gen_ai.evaluation.score.value"];
  if (typeof value !== "number" || !Number.isFinite(value)) return;
  const own = scores.get(id) ?? new Map<string, number[]>();
  const name = String(attributes["gen_ai.evaluation.name"] ?? "score");
  own.set(name, [...(own.get(name) ?? []), value]);
  scores.set(id, own);
}

/** Returns the scores of a call, else those of the nearest span around it that has some. */
function scoresAround(
  id: string,
  parents: ReadonlyMap<string, string | undefined>,
  scores: ReadonlyMap<string, Scores>,
): Scores {
  const seen = new Set<string>();
  for (let span: string | undefined = id; span !== undefined && !seen.has(span); span = parents.get(span)) {
    seen.add(span);
    const found = scores.get(span);
    if (found !== undefined) return found;
  }
  return new Map();
}

/** Leaves out calls that another call of the same trace, or with the same `gen_ai.conversation.id`, continues. It keeps their reasoning, which is left out of what later calls read, and their scores. */
function mergedCalls(conversations: readonly Conversation[]): Conversation[] {
  const endOf = ({ call }: Conversation, hash: string | undefined): string => `${call.conversation} ${hash}`;
  const byEnd = Map.groupBy(conversations, (each) => endOf(each, each.hashes.at(-1)));
  const continued = new Set<Conversation>();
  const longer = conversations.map((conversation): Conversation => {
    const messages = [...conversation.call.messages];
    const scores = new Map(conversation.scores);
    // An event at a span around several calls is one score.
    const counted = new Set(scores.values());
    for (const [i, hash] of conversation.hashes.slice(0, -1).entries()) {
      for (const earlier of byEnd.get(endOf(conversation, hash)) ?? []) {
        continued.add(earlier);
        const { reasoning_content } = earlier.call.messages.at(-1) as TracedMessage;
        if (reasoning_content) messages[i] = { ...(messages[i] as TracedMessage), reasoning_content };
        for (const [name, values] of earlier.scores) {
          if (!counted.has(values)) scores.set(name, [...(scores.get(name) ?? []), ...values]);
          counted.add(values);
        }
      }
    }
    return { ...conversation, call: { ...conversation.call, messages }, scores };
  });
  return longer.filter((_, i) => !continued.has(conversations[i] as Conversation));
}

/** Ids of calls and reasoning differ between the answer of a call and what later calls read. */
function hashesOf(messages: readonly TracedMessage[]): string[] {
  let before = "";
  return messages.map(({ role, content, tool_calls }) => {
    const calls = tool_calls?.map(({ function: { name, arguments: given } }) => [name, given]) ?? [];
    before = createHash("sha256")
      .update(JSON.stringify([before, role, content, calls]))
      .digest("hex");
    return before;
  });
}

/** Returns the rows of scored conversations. Those that begin with the same messages up to the first answer are a group. */
function recordedRows(conversations: readonly Conversation[]): JsonValue[] {
  const members = new Map<string, number>();
  return conversations.map(({ call, hashes, scores }): JsonValue => {
    const first = call.messages.findIndex(({ role }) => role === "assistant");
    const group = hashes[first - 1] ?? "";
    const member = members.get(group) ?? 0;
    members.set(group, member + 1);
    const components = Object.fromEntries(Array.from(scores, ([name, values]) => [name, mean(values)]));
    const answers = call.messages.filter(({ role }) => role === "assistant").length;
    const row: RecordedRow = {
      ...{ id: call.id, environment: "traces", task: `traces/${group.slice(0, 16)}`, seed: null, group, member },
      ...{ agent: "agent", role: "agent", renderer: "", segments: [] },
      player: { kind: "policy", name: call.model, policy: "policy" },
      ...{ messages: [...call.messages], tools: call.tools },
      turns: Array.from({ length: answers }, (_, i) => ({
        ...{ segment: null, start: null, end: null, reward: null },
        stop_reason: call.isCut && i === answers - 1 ? "length" : "stop",
      })),
      ...{ reward: mean(Object.values(components)), components, terminated: true, truncated: false },
    };
    return row as JsonValue;
  });
}

function mean(values: readonly number[]): number {
  return meanValue(meanOf(values));
}

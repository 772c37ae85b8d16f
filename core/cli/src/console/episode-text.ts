import type { KeptEpisode } from "@mrlm/runtime";
import { glyph } from "./unicode.ts";

type Row = KeptEpisode["row"];
type Message = Row["messages"][number];

/** Formats an episode for people: its step, reward, end and conversation. */
export function episodeText({ step, stage, row }: KeptEpisode): string {
  const { environment, task, agent, player } = row;
  const played =
    stage === undefined
      ? []
      : [
          stage.startsWith("evaluation/")
            ? `${stage.slice("evaluation/".length)} evaluation after step ${step}`
            : `${stage}, step ${step}`,
        ];
  const head = [
    `task ${task}`,
    environment,
    ...played,
    ...(agent === "agent" || agent === "" ? [] : [`agent ${agent}`]),
    ...(player === null || player.kind === "policy" ? [] : [`played by the ${PLAYERS[player.kind]} ${player.name}`]),
  ].join(glyph(" · ", ", "));
  return [head, outcomeLines(row), ...conversation(row)].join("\n");
}

/** Formats the outcome of an episode: reward, end, tools, judgements, grades. */
export function outcomeLines(row: Row): string {
  const { error } = row;
  const lines = [`  ${outcomeText(row)}`];
  const used = toolsText(row);
  if (used !== "") lines.push(`  ${used}`);
  lines.push(...judgementLines(row), ...gradeLines(row));
  if (error) lines.push(`  failed with ${error.code}: ${error.message}`);
  return lines.join("\n");
}

/** Formats the reward of an episode by component, and its end. */
export function outcomeText(row: Row): string {
  const ended = row.error
    ? "failed"
    : row.truncated
      ? `truncated (by ${LIMITS[row.truncated_by ?? ""] ?? "a limit"})`
      : row.terminated
        ? "terminated"
        : "not ended";
  return `${rewardText(row)}${sharedText(row)}; ${ended}`;
}

/** Formats the calls of tools: `tools: calculator 3 calls (1 error)`; an empty text without calls. */
function toolsText({ tool_usage }: Row): string {
  const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const parts = (tool_usage ?? []).map(({ name, calls, errors, truncated }) => {
    const faults = [
      ...(errors > 0 ? [counted(errors, "error")] : []),
      ...(truncated > 0 ? [`${truncated} truncated`] : []),
    ];
    return `${name} ${counted(calls, "call")}${faults.length > 0 ? ` (${faults.join(", ")})` : ""}`;
  });
  return parts.length === 0 ? "" : `tools: ${parts.join(", ")}`;
}

/** Formats the judgements: `judged by rules@1 after turn 12: pro, reward 0.21: REASON`. */
function judgementLines({ judgements }: Row): string[] {
  return (judgements ?? []).map(
    ({ judge, step, verdict, reason, reward }) =>
      `  judged by ${judge} after turn ${step + 1}: ${verdict}, ${reward === null ? "no reward" : `reward ${short(reward)}`}: ${reason}`,
  );
}

/** Formats the grades: `graded by math@2 after turn 1: different, reward 0: REASON; answer: 12`. */
function gradeLines({ grades }: Row): string[] {
  const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
  return (grades ?? []).map(
    ({ scorer, step, verdict, reason, extracted, reward }) =>
      `  graded by ${scorer} after turn ${step + 1}: ${verdict}, ${reward === null ? "no reward" : `reward ${short(reward)}`}: ${oneLine(reason)}${extracted ? `; answer: ${oneLine(extracted)}` : ""}`,
  );
}

/** Formats a reward: `reward 0.5 (correct 0, format 0.5)`, or the reason why there is none. */
export function rewardText({ reward, components, unscored, error }: Row): string {
  if (error) return "no reward";
  if (reward === null) return unscored ? `no reward: ${unscored.code}: ${unscored.message}` : "no reward";
  const parts = Object.entries(components ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${short(value)}`],
  );
  return `reward ${short(reward)}${parts.length > 0 ? ` (${parts.join(", ")})` : ""}`;
}

/** Formats the reward that is learnt from where roles share rewards: `learns from 0.8: 1 x browser#1 + 0.5 x main`; an empty text elsewhere. */
function sharedText({ shared, error }: Row): string {
  if (!shared || error) return "";
  const terms = shared.weights.map(({ agent, weight }) => `${short(weight)} x ${agent}`).join(" + ");
  return shared.reward === null
    ? `; learns from nothing, because a reward of ${terms} is unscored`
    : `; learns from ${short(shared.reward)}${terms === "" ? "" : `: ${terms}`}`;
}

/** Formats a message: reasoning, content, tool calls, and faults of malformed ones, whose text is in the content. */
export function messageText({ content, reasoning_content, tool_calls, malformed_calls }: Message): string {
  const calls = (tool_calls ?? []).map(
    ({ function: { name, arguments: given } }) =>
      `[calls ${name}(${typeof given === "string" ? given : JSON.stringify(given)})]`,
  );
  return [
    ...(reasoning_content ? [`[thinking] ${reasoning_content}`] : []),
    ...(content ? [content] : []),
    ...calls,
    ...(malformed_calls ?? []).map(({ error, offset }) => `[malformed call, at its character ${offset + 1}: ${error}]`),
  ].join("\n");
}

/** Returns the text for an empty message. Special tokens have none, so an answer of several is distinguished from an empty one. */
export function noText(turn?: Row["turns"][number]): string {
  const tokens = (turn?.end ?? 0) - (turn?.start ?? 0);
  return tokens > 1 ? `(no text: ${tokens} tokens, all of them special)` : "(no text)";
}

const PLAYERS = {
  past: "earlier version of",
  model: "frozen model",
  endpoint: "endpoint",
  scripted: "scripted policy",
} as const;

const LIMITS: Readonly<Record<string, string>> = {
  turns: "the limit of turns",
  tokens: "the context",
  environment: "the environment",
};

function conversation({ messages, turns, fresh_at }: Row): string[] {
  const labels = messages.map(({ role, name }) => (role === "tool" && name ? `tool ${name}` : role));
  const width = Math.max(9, ...labels.map(({ length }) => length));
  const answers = messages.filter(({ role }) => role === "assistant").length;
  let answer = 0;
  return messages.flatMap((message, i) => {
    const turn = message.role === "assistant" && answers === turns.length ? turns[answer++] : undefined;
    const [first = "", ...rest] = (messageText(message) || noText(turn)).split("\n");
    const notes =
      turn === undefined
        ? []
        : [
            ...(turn.stop_reason === "length" ? ["cut by max_tokens"] : []),
            ...(turns.length > 1 && turn.reward !== null ? [`reward ${short(turn.reward)}`] : []),
          ];
    const text = [
      `  ${(labels[i] as string).padEnd(width)}  ${first}`,
      ...rest.map((line) => `  ${" ".repeat(width)}  ${line}`),
    ];
    return [
      ...(fresh_at?.includes(i) === true ? ["  (the conversation starts over)"] : []),
      ...text,
      ...(notes.length === 0 ? [] : [`  ${" ".repeat(width)}  [${notes.join(", ")}]`]),
    ];
  });
}

function short(value: number): string {
  return Number(value.toPrecision(3)).toString();
}

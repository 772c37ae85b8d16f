import {
  type AgentId,
  type AgentTrajectory,
  type Message,
  type Metrics,
  type PolicyId,
  type Trajectory,
  type TrajectoryGroup,
} from "@mrlm/spec";
import { messageText, toolCalls } from "../messages.ts";
import { isCopied } from "./copied-answer.ts";
import { gradesOf } from "./judgements.ts";
import { isPlayedBy } from "./learnable-episodes.ts";
import { meanOf } from "./mean.ts";

/**
 * Returns metrics of the answers of a policy, each a share of its answers: `copied` from the prompt, `constant` (equal to the most frequent one; where the batch has
 * two tasks or more), `distinct` (different ones); of graded answers `found` in their place, `unreadable` and `undecided`. An answer is what the scorer read in the last
 * grade, else the last action: its text without thinking, and the arguments of its tool calls.
 */
export function answerMetrics(groups: readonly TrajectoryGroup[], policy: PolicyId): Metrics {
  const played = groups.flatMap(({ trajectories }) => trajectories.filter(({ error }) => error === undefined));
  const isOwn = ({ agents }: Trajectory, agent: AgentId): boolean =>
    agents[agent] !== undefined && isPlayedBy(agents[agent] as AgentTrajectory, policy);
  const grades = played.flatMap((trajectory) => gradesOf(trajectory).filter(({ agent }) => isOwn(trajectory, agent)));
  const answers = played.flatMap((trajectory) =>
    Object.keys(trajectory.agents)
      .filter((agent) => isOwn(trajectory, agent))
      .flatMap((agent) => answerOf(trajectory, agent) ?? []),
  );
  const counts = new Map<string, number>();
  for (const { text } of answers) counts.set(text, (counts.get(text) ?? 0) + 1);
  const tasks = new Set(played.map(({ environment, task }) => JSON.stringify([environment, task])));
  const share = (verdict: string): Metrics[string] => meanOf(grades.map((grade) => Number(grade.verdict === verdict)));
  return {
    ...(answers.length > 0 && {
      "answers/copied": meanOf(answers.map(({ text, prompt }) => Number(isCopied(text, prompt())))),
      "answers/distinct": { sum: counts.size, count: answers.length },
    }),
    ...(answers.length > 0 &&
      tasks.size > 1 && { "answers/constant": { sum: Math.max(...counts.values()), count: answers.length } }),
    ...(grades.length > 0 && {
      "answers/found": meanOf(grades.map(({ extracted }) => Number(extracted !== undefined))),
      "answers/unreadable": share("unreadable"),
      "answers/undecided": share("undecided"),
    }),
  };
}

/** Answer of an agent, with the text that the environment showed it. */
interface Answer {
  readonly text: string;
  readonly prompt: () => string;
}

function answerOf(trajectory: Trajectory, agent: AgentId): Answer | undefined {
  const turns = trajectory.turns.filter((turn) => turn.agent === agent);
  const last = turns.findLast(({ stopReason }) => stopReason !== "exhausted");
  if (last === undefined) return undefined;
  const read = gradesOf(trajectory).findLast((grade) => grade.agent === agent)?.extracted;
  // The result of a tool is no question, and may be the answer.
  const prompt = (): string =>
    turns.flatMap(({ messages }) => messages.filter(({ role }) => role !== "tool").map(messageText)).join("\n");
  return { text: (read ?? actionText(last.response)).trim(), prompt };
}

function actionText(message: Message): string {
  const values = toolCalls(message).flatMap((call) => Object.values(call.arguments));
  return [
    messageText(message),
    ...values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))),
  ].join(" ");
}

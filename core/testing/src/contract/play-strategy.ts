import { type Fixture, type JsonObject, type RoleId, roleOf, type Task } from "@mrlm/spec";
import type { EnvironmentSession } from "@mrlm/spec/host";
import { messageText, textMessage } from "@mrlm/kit";
import { never, type Player, playEpisode, scriptedPlayer, type Transcript, withSession } from "./play.ts";
import type { Strategy } from "./strategies.ts";
import type { Subject } from "./subject.ts";

/** Rewards of a strategy in one role. */
export interface StrategyOutcome {
  readonly strategy: Strategy;
  /** Number of scored totals. */
  readonly played: number;
  readonly mean: number;
  /** Share of the totals that are at least that of gold. */
  readonly share: number;
}

/** Tasks of the training split; empty for an environment without tasks. */
async function trainingTasks(subject: Subject, options: JsonObject | undefined, count: number): Promise<Task[]> {
  const source = await subject.tasks(options);
  const size = Math.min(count, source?.splits["train"] ?? 0);
  return Promise.all(Array.from({ length: size }, (_, index) => source?.get("train", index) as Promise<Task>));
}

/** Number of episodes that are played at once. Each strategy plays so many, also where they are slow. */
const AT_ONCE = 5;

/** An episode of this task cannot be played, because the fixture's policy knows another one only. */
class NotApplicable extends Error {}

/**
 * Plays episodes of up to `count` tasks with a strategy in some roles, and returns the rewards of one of them. The other roles are played as in the gold fixture.
 * Begins no episode after `budgetMs`, except the first few.
 * @param gold total of a right answer
 */
export async function playStrategy(
  subject: Subject,
  fixture: Fixture,
  strategy: Strategy,
  {
    role,
    roles,
    gold,
    count,
    budgetMs,
  }: {
    readonly role: RoleId;
    readonly roles: ReadonlySet<RoleId>;
    readonly gold: number;
    readonly count: number;
    readonly budgetMs: number;
  },
): Promise<StrategyOutcome> {
  const { options } = fixture;
  const tasks = await trainingTasks(subject, options, count);
  const { determinism } = await subject.describe(options);
  const totals: number[] = [];
  const deadline = performance.now() + budgetMs;
  const episodes = tasks.length === 0 ? count : tasks.length;
  let next = 0;
  const playNext = async (session: EnvironmentSession): Promise<void> => {
    while (next < episodes && (next < AT_ONCE || performance.now() < deadline)) {
      const index = next++;
      const player = strategyPlayer(subject, fixture, strategy, { roles, tasks, index });
      const task = tasks[index];
      const first = await session.reset({
        ...(determinism !== "none" && { seed: index }),
        ...(task !== undefined && { task: task.id }),
        signal: never,
      });
      let played: Transcript;
      try {
        played = await playEpisode(session, first, player, `strategy "${strategy.name}"`);
      } catch (error) {
        if (error instanceof NotApplicable) continue;
        throw error;
      }
      if (played.unscored > 0) continue;
      for (const agent of played.acted) if (roleOf(agent) === role) totals.push(played.totals[agent] ?? 0);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, () => withSession(subject, options, playNext)));
  const played = Math.max(1, totals.length);
  return {
    strategy,
    played: totals.length,
    mean: totals.reduce((sum, total) => sum + total, 0) / played,
    share: totals.filter((total) => total >= gold - 1e-9).length / played,
  };
}

function strategyPlayer(
  subject: Subject,
  { options, players = {}, policy }: Fixture,
  strategy: Strategy,
  {
    roles,
    tasks,
    index,
  }: { readonly roles: ReadonlySet<RoleId>; readonly tasks: readonly Task[]; readonly index: number },
): Player {
  const scripted = scriptedPlayer(subject, (each) => players[each], options, index);
  return async (observation, { messages, steps }) => {
    const { agent } = observation;
    if (players[roleOf(agent)] !== undefined) return scripted(observation, { messages, steps });
    const request = { agent, role: roleOf(agent), messages, turn: steps.length };
    const golden = (offset: number): string | undefined => {
      const task = tasks[(index + offset) % Math.max(1, tasks.length)];
      if (task === undefined || (offset > 0 && offset % tasks.length === 0)) return undefined;
      try {
        const response = policy({ ...request, task });
        return typeof response === "string" ? response : messageText(response);
      } catch {
        return undefined;
      }
    };
    const own = tasks[index] ?? { id: "", public: {}, private: {} };
    const text = roles.has(roleOf(agent)) ? strategy.reply({ ...request, task: own, gold: golden }) : golden(0);
    if (text === undefined) throw new NotApplicable();
    return { agent, message: textMessage("assistant", text), finishReason: "stop" };
  };
}

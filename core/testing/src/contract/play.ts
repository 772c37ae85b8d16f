import {
  type AgentId,
  type EnvironmentSession,
  type Fixture,
  type JsonObject,
  type Message,
  type Observation,
  type SimulatedEnvironment,
  type StepResult,
} from "@mrlm/spec";
import { repeatedHistory, textMessage } from "@mrlm/kit";
import type { Subject } from "./subject.ts";

/** Maximal number of turns of an episode in a check. */
const MAX_TURNS = 1_000;

/** Signal that is never aborted. */
export const never: AbortSignal = new AbortController().signal;

/** Observations and results of an episode, as a client receives them. */
export interface Transcript {
  readonly first: Observation;
  readonly steps: readonly StepResult[];
  /** Sum of the scored rewards by agent. */
  readonly totals: Readonly<Record<AgentId, number>>;
  readonly unscored: number;
}

/** Plays the episode of a fixture to its end. */
export async function playFixture(
  subject: Subject,
  fixture: Fixture,
  session: SimulatedEnvironment,
): Promise<Transcript> {
  const { options, seed, task, policy } = fixture;
  await subject.tasks(options);
  const first = await session.reset({
    ...(seed !== undefined && { seed }),
    ...(task !== undefined && { task }),
    signal: never,
  });
  const chosen = await subject.task(task ?? subject.watched.lastReset()?.task ?? "", options);
  const history = new Map<AgentId, Message[]>();
  const firstMessages = new Map<AgentId, readonly Message[]>();
  const steps: StepResult[] = [];
  let observation = first;
  while (observation.agent !== "") {
    if (steps.length >= MAX_TURNS)
      throw new Error(
        `The episode of fixture "${fixture.name}" did not end within ${MAX_TURNS} turns. Give the environment maxTurns, or end it.`,
      );
    const earlier = firstMessages.get(observation.agent);
    const repeated = earlier === undefined ? undefined : repeatedHistory(earlier, observation.messages);
    if (repeated !== undefined) {
      throw new Error(
        `The observation before turn ${steps.length + 1} of fixture "${fixture.name}" repeats what the agent already has: ${repeated}. Return only messages that are new.`,
      );
    }
    if (earlier === undefined) firstMessages.set(observation.agent, observation.messages);
    const messages = [...(history.get(observation.agent) ?? []), ...observation.messages];
    const response = policy({ messages, turn: steps.length, task: chosen });
    const message = typeof response === "string" ? textMessage("assistant", response) : response;
    history.set(observation.agent, [...messages, message]);
    const step = await session.step({ agent: observation.agent, message, finishReason: "stop" }, { signal: never });
    steps.push(step);
    observation = step.observation;
  }
  return { first, steps, ...rewardsOf(steps) };
}

/** Opens a session, uses it and closes it. */
export async function withSession<T>(
  subject: Subject,
  options: JsonObject | undefined,
  use: (session: EnvironmentSession) => Promise<T>,
): Promise<T> {
  const session = await subject.host.open(subject.ref(options));
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

function rewardsOf(steps: readonly StepResult[]): Pick<Transcript, "totals" | "unscored"> {
  const totals: Record<AgentId, number> = {};
  let unscored = 0;
  for (const { rewards } of steps) {
    for (const [agent, reward] of Object.entries(rewards)) {
      if (reward.scored) totals[agent] = (totals[agent] ?? 0) + reward.value;
      else unscored++;
    }
  }
  return { totals, unscored };
}

import {
  type Action,
  type AgentId,
  defined,
  type Fixture,
  isObject,
  type JsonObject,
  type Message,
  type Observation,
  parseJson,
  type Policy,
  type RoleId,
  roleOf,
  type SimulatedEnvironment,
  type StepResult,
} from "@mrlm/spec";
import type { EnvironmentSession } from "@mrlm/spec/host";
import { textMessage } from "@mrlm/kit";
import { repeatedHistory } from "@mrlm/kit/service";
import { Defect } from "../check/defect.ts";
import type { Subject } from "./subject.ts";

/** Maximal number of turns of an episode in a check. */
const MAX_TURNS = 1_000;

/** Signal that is never aborted. */
export const never: AbortSignal = new AbortController().signal;

/** Observations and results of an episode, as a client receives them, without the duration of tool calls. */
export interface Transcript {
  readonly first: Observation;
  readonly steps: readonly StepResult[];
  /** Sum of the scored rewards by agent. */
  readonly totals: Readonly<Record<AgentId, number>>;
  readonly unscored: number;
  /** Code and message of the first unscored reward. */
  readonly reason?: string;
  /** Agents that were on turn. */
  readonly acted: readonly AgentId[];
}

/** Chooses the action of the agent on turn. `messages` is its conversation so far. */
export type Player = (
  observation: Observation,
  at: { readonly steps: readonly StepResult[]; readonly messages: readonly Message[] },
) => Promise<Action>;

/** Plays an episode to its end. `name` stands for it in messages of faults. */
export async function playEpisode(
  session: SimulatedEnvironment,
  first: Observation,
  player: Player,
  name: string,
): Promise<Transcript> {
  const history = new Map<AgentId, readonly Message[]>();
  const beginnings = new Map<AgentId, readonly Message[]>();
  const steps: StepResult[] = [];
  let observation = first;
  while (observation.agent !== "") {
    const { agent, isFresh, messages: shown } = observation;
    if (steps.length >= MAX_TURNS)
      throw new Defect("EPISODE_ENDLESS", `The episode of ${name} did not end within ${MAX_TURNS} turns.`);
    const beginning = isFresh === true ? undefined : beginnings.get(agent);
    const repeated = beginning === undefined ? undefined : repeatedHistory(beginning, shown);
    if (repeated !== undefined) {
      throw new Defect(
        "MESSAGES_REPEATED",
        `The observation before turn ${steps.length + 1} of ${name} repeats what the agent already has: ${repeated}.`,
      );
    }
    if (isFresh === true && shown.length === 0)
      throw new Defect(
        "OBSERVATION_INVALID",
        `The conversation of "${agent}" starts over before turn ${steps.length + 1} of ${name} without a message.`,
      );
    if (beginning === undefined) beginnings.set(agent, shown);
    const messages = [...(isFresh === true ? [] : (history.get(agent) ?? [])), ...shown];
    const action = await player(observation, { steps, messages });
    history.set(agent, [...messages, action.message]);
    const step = withoutDurations(await session.step(action, { signal: never }));
    steps.push(step);
    observation = step.observation;
  }
  return { first, steps, ...rewardsOf(steps), acted: [...history.keys()] };
}

/** Seed of fixtures that state none, so that each run of the checks plays the same tasks. */
const SEED = 1;

/** Returns the seed of a fixture; `undefined` where the environment refuses one. */
export async function seedOf(subject: Subject, { options, seed = SEED }: Fixture): Promise<number | undefined> {
  const { determinism } = await subject.describe(options);
  return determinism === "none" ? undefined : seed;
}

/** Plays the episode of a fixture to its end. `change` replaces the action of an agent. */
export async function playFixture(
  subject: Subject,
  fixture: Fixture,
  session: SimulatedEnvironment,
  change: (action: Action, steps: readonly StepResult[]) => Action = (action) => action,
): Promise<Transcript> {
  const { name, options, task, policy, players = {} } = fixture;
  const seed = await seedOf(subject, fixture);
  await subject.tasks(options);
  const { roles } = await subject.describe(options);
  const unknown = Object.keys(players).find((role) => !Object.hasOwn(roles, role));
  if (unknown !== undefined)
    throw new Error(
      `Fixture "${name}" has a player of role "${unknown}". The environment's roles are ${Object.keys(roles).join(", ")}.`,
    );
  const first = await session.reset({
    ...defined({ seed, task }),
    signal: never,
  });
  const chosen = await subject.task(task ?? subject.watched.lastReset()?.task ?? "", options);
  const scripted = scriptedPlayer(subject, (role) => players[role], options, seed);
  const byFixture: Player = async ({ agent }, { steps, messages }) => {
    const response = policy({ agent, role: roleOf(agent), messages, turn: steps.length, task: chosen });
    const message = typeof response === "string" ? textMessage("assistant", response) : response;
    return { agent, message, finishReason: "stop" };
  };
  const player: Player = async (observation, at) => {
    const play = players[roleOf(observation.agent)] === undefined ? byFixture : scripted;
    return change(await play(observation, at), at.steps);
  };
  return playEpisode(session, first, player, `fixture "${name}"`);
}

/** Returns a player that makes a scripted policy for each agent. */
export function scriptedPlayer(
  subject: Subject,
  playerOf: (role: RoleId) => NonNullable<Fixture["players"]>[string] | undefined,
  options: JsonObject | undefined,
  seed = 0,
): Player {
  const policies = new Map<AgentId, Promise<Policy>>();
  return async (observation) => {
    const { agent } = observation;
    const { scripted: name, options: given } = playerOf(roleOf(agent)) ?? { scripted: "" };
    const policy =
      policies.get(agent) ??
      subject.scripted({ name, ...defined({ options: given }), seed: seed + policies.size }, options);
    policies.set(agent, policy);
    return (await policy).act(observation, { signal: never });
  };
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

/** Members of an info that are durations, which differ between equal episodes: of calls of tools, which the host adds to each step, and of a program's calls. */
const DURATIONS: Readonly<Record<string, readonly string[]>> = {
  tools: ["seconds"],
  agent: ["at", "seconds", "retries"],
};

/** Removes durations from the info of a step. */
export function withoutDurations(step: StepResult): StepResult {
  if (step.info === undefined) return step;
  const entries = Object.entries(step.info).map(([name, value]) => {
    const timed = isObject(value) ? DURATIONS[name] : undefined;
    const text = timed && JSON.stringify(value, (key, each: unknown) => (timed.includes(key) ? undefined : each));
    return [name, text === undefined ? value : parseJson(text)];
  });
  return { ...step, info: Object.fromEntries(entries) as JsonObject };
}

function rewardsOf(steps: readonly StepResult[]): Pick<Transcript, "totals" | "unscored" | "reason"> {
  const totals: Record<AgentId, number> = {};
  let unscored = 0;
  let reason: string | undefined;
  for (const { rewards } of steps) {
    for (const [agent, reward] of Object.entries(rewards)) {
      if (reward.scored) totals[agent] = (totals[agent] ?? 0) + reward.value;
      else {
        unscored++;
        reason ??= `${reward.code}: ${reward.message}`;
      }
    }
  }
  return { totals, unscored, ...defined({ reason }) };
}

/** Returns the agents that have neither terminated nor truncated after these steps. */
export function livingAgents(steps: readonly StepResult[]): AgentId[] {
  return Object.keys(steps.at(-1)?.terminated ?? {}).filter((agent) =>
    steps.every(({ terminated, truncated }) => terminated[agent] !== true && truncated[agent] !== true),
  );
}

/** Fails unless each agent of an episode was terminated or truncated. */
export function assertAllEnded(steps: readonly StepResult[]): void {
  const living = livingAgents(steps);
  if (steps.length === 0 || living.length > 0)
    throw new Defect(
      "EPISODE_END_INVALID",
      `The episode ended without every agent being terminated or truncated: ${living.join(", ")}.`,
    );
}

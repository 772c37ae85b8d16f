import {
  type Action,
  type AgentId,
  defined,
  type Logger,
  type ModelId,
  MrlmError,
  type Observation,
  type Renderer,
  roleOf,
  type RolloutSampling,
  type StepResult,
  type Trajectory,
} from "@mrlm/spec";
import { traced } from "@mrlm/kit/service";
import type { SampleRequest, SampleResult } from "@mrlm/spec/host";
import type { ActingPlayer } from "./assign-players.ts";
import { assertReached, assertRepeated, assertSameState, repeatedSample } from "./branches.ts";
import { type EpisodePlan, samplingKey } from "./episode-plan.ts";
import { EMPTY_MESSAGE, EpisodeRecord } from "./episode-record.ts";
import { FATAL } from "./fatal-codes.ts";
import type { PromptCache } from "./prompt-cache.ts";
import { episodeAttributes, requestAttributes, resultAttributes, sampledAttributes } from "./span-attributes.ts";
import { ScriptedAgents, type ScriptedPlayer } from "./scripted-agents.ts";

export interface EpisodeSession {
  reset(): Promise<Observation>;
  step(action: Action): Promise<StepResult>;
  close(): Promise<void>;
}

/** Thrown if an episode cannot continue and must begin again. */
export class EpisodeLost extends MrlmError {
  constructor(episode: string, reason: string) {
    super("SESSION_NOT_FOUND", `Episode ${episode} lost its session: ${reason}.`);
  }
}

/** Parts with which an episode is played. */
export interface EpisodePorts {
  session(plan: EpisodePlan): EpisodeSession;
  renderer(model: ModelId): Renderer;
  readonly prompts: PromptCache;
  readonly logger: Logger;
  /** @param onHeld receives the part of the wait in which nothing but policies of plugins delayed it, in seconds */
  sample(
    plan: EpisodePlan,
    model: ModelId,
    request: SampleRequest,
    onHeld: (seconds: number) => void,
  ): Promise<SampleResult>;
  /** Waits for a policy of a plugin. */
  outside<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Plays one episode. Rejects only with errors of the whole run, and with EpisodeLost if the episode may begin again. Any other error is in the
 * episode's record.
 */
export function playEpisode(plan: EpisodePlan, ports: EpisodePorts, mayBeginAgain = false): Promise<Trajectory> {
  return traced(
    "rollout",
    () => episodeAttributes(plan),
    async (span) => {
      const trajectory = await play(plan, ports, mayBeginAgain);
      span?.setAttributes(resultAttributes(trajectory));
      return trajectory;
    },
  );
}

async function play(plan: EpisodePlan, ports: EpisodePorts, mayBeginAgain: boolean): Promise<Trajectory> {
  const record = new EpisodeRecord(plan, (agent) => ports.renderer(modelOf(playerOf(plan, agent))), ports.prompts);
  const scripted = new ScriptedAgents(plan, ports.logger);
  const session = ports.session(plan);
  const { branch } = plan;
  try {
    let observation = await record.timed("environment", () => session.reset());
    while (observation.agent !== "") {
      if (plan.maxTurns > 0 && record.turnCount >= plan.maxTurns) {
        record.truncate("turns");
        break;
      }
      if (branch !== undefined) assertSameState(branch, record.turnCount, observation);
      const player = playerOf(plan, observation.agent);
      const result =
        "open" in player
          ? await playScripted(scripted, player, ports, record, session, observation)
          : await playTurn(plan, ports, record, session, observation, modelOf(player));
      if (result === undefined) break;
      if (branch !== undefined) assertRepeated(branch, record.turns);
      ({ observation } = result);
    }
    if (branch !== undefined) assertReached(branch, record.turnCount);
  } catch (error) {
    if (MrlmError.hasCode(error, ...FATAL) || (mayBeginAgain && error instanceof EpisodeLost)) throw error;
    record.fail(error);
  } finally {
    await Promise.all([scripted.close(), session.close()]);
  }
  return record.trajectory();
}

/** Samples a turn of the agent that the observation names; `undefined` if its context has no room for one. */
async function playTurn(
  plan: EpisodePlan,
  ports: EpisodePorts,
  record: EpisodeRecord,
  session: EpisodeSession,
  observation: Observation,
  model: ModelId,
): Promise<StepResult | undefined> {
  const { agent } = observation;
  const prompt = record.observe(observation);
  const room = plan.tokenLimit(model) - prompt.length;
  const sampling = plan.sampling(model);
  if (room < Math.max(1, sampling.minTokens ?? 0)) {
    if (!record.hasTokens)
      throw new MrlmError(
        "SEQUENCE_TOO_LONG",
        `The prompt of ${prompt.length} tokens leaves no room for an answer within ${plan.tokenLimit(model)}.`,
      );
    record.withdraw(agent);
    return stopAgent(plan, record, session, observation);
  }
  const request = sampleRequest(
    plan,
    record.turnCount,
    sampling,
    ports.renderer(model),
    prompt,
    Math.min(room, observation.maxTokens ?? room),
  );
  const sample = (): Promise<SampleResult> =>
    traced(
      `chat ${model}`,
      () => requestAttributes(model, request),
      async (span) => {
        const result = await ports.sample(plan, model, request, (seconds) => record.waitedForPlayers(seconds));
        span?.setAttributes(sampledAttributes(result));
        return result;
      },
      { kind: "client" },
    );
  const repeated = plan.branch === undefined ? undefined : repeatedSample(plan.branch, record.turnCount);
  const sampled = repeated ?? (await record.timed("sampling", sample));
  if (sampled.stopReason === "cancelled")
    throw new MrlmError("CANCELLED", `Sampling of episode ${plan.id} was cancelled.`);
  const response = record.choose(agent, sampled);
  const result = await record.timed("environment", () =>
    session.step({
      agent,
      message: response.message,
      finishReason: sampled.stopReason === "length" ? "length" : "stop",
    }),
  );
  record.turn(observation, response, sampled.stopReason, result);
  return result;
}

/** Steps the environment without a message of an agent whose context is full. Where no other agent plays on, and no program has to receive it, ends the episode without a step. */
async function stopAgent(
  plan: EpisodePlan,
  record: EpisodeRecord,
  session: EpisodeSession,
  observation: Observation,
): Promise<StepResult | undefined> {
  const { agent } = observation;
  const isReceived = record.othersPlay(agent) || record.isProgram;
  if (!isReceived || plan.description.lacksExhausted === true) return void record.truncate("tokens");
  const result = await record.timed("environment", () =>
    session.step({ agent, message: EMPTY_MESSAGE, finishReason: "exhausted" }),
  );
  record.exhausted(observation, result);
  return result;
}

/** Plays a turn of an agent that a script or an endpoint plays. It has no tokens and enters no wave of the sampler. */
async function playScripted(
  scripted: ScriptedAgents,
  player: ScriptedPlayer,
  ports: EpisodePorts,
  record: EpisodeRecord,
  session: EpisodeSession,
  observation: Observation,
): Promise<StepResult> {
  const act = (): Promise<Action> => scripted.act(player, observation);
  const action = player.isOutside
    ? await record.timed("players", () => ports.outside(act))
    : await record.timed("environment", act);
  const result = await record.timed("environment", () => session.step(action));
  const stopReason = action.finishReason === "length" ? "length" : "stop";
  record.turn(observation, { message: action.message }, stopReason, result);
  return result;
}

function playerOf(plan: EpisodePlan, agent: AgentId): ActingPlayer {
  const player = plan.acting[roleOf(agent)];
  if (player === undefined) throw new MrlmError("INTERNAL", `No player has the role of agent "${agent}".`);
  return player;
}

function modelOf(player: ActingPlayer): ModelId {
  if ("open" in player) throw new MrlmError("INTERNAL", `The script "${player.name}" is no model.`);
  return player.kind === "policy" ? player.policy : player.model;
}

/**
 * Creates the request for the tokens of a turn.
 * @param most tokens that the context and the observation permit
 */
function sampleRequest(
  { identity }: Pick<EpisodePlan, "identity">,
  turn: number,
  sampling: RolloutSampling,
  renderer: Renderer,
  prompt: Int32Array,
  most: number,
): SampleRequest {
  const { temperature, maxTokens, minTokens, topP, topK, ignoreStop } = sampling;
  return {
    prompt: prompt.slice(),
    key: samplingKey(identity, turn),
    params: {
      temperature,
      maxTokens: Math.min(maxTokens, most),
      ...defined({ minTokens: minTokens && Math.min(minTokens, most), topP, topK }),
      stopTokenIds: ignoreStop === true ? [] : renderer.stopTokenIds,
    },
  };
}

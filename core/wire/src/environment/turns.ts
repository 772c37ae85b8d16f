import type { Action, Observation, Reward, StepResult } from "@mrlm/spec";
import { MAX_REWARD } from "@mrlm/spec/host";
import type { Codec } from "../codec.ts";
import * as wire from "../gen/mrlm/env/v1/environment.ts";
import { invalid } from "../invalid.ts";
import { fromOptionalJson, toJson } from "../json.ts";
import { decodeMessage, decodeTool, encodeMessage, encodeTool } from "./messages.ts";

const FINISH_REASON = {
  stop: wire.FinishReason.FINISH_REASON_STOP,
  length: wire.FinishReason.FINISH_REASON_LENGTH,
  exhausted: wire.FinishReason.FINISH_REASON_EXHAUSTED,
} as const satisfies Record<Action["finishReason"], wire.FinishReason>;

/** Codec: action of an agent. */
export const actionCodec: Codec<Action, wire.Action, wire.Action | undefined> = {
  encode: ({ agent, message, finishReason }) => ({
    agent,
    message: encodeMessage(message),
    finishReason: FINISH_REASON[finishReason],
  }),

  /** Decodes an action. An unspecified finish reason stands for `stop`. */
  decode(action) {
    if (action?.message === undefined) throw invalid("an action has no message");
    return {
      agent: action.agent,
      message: decodeMessage(action.message),
      finishReason: decodeFinishReason(action.finishReason),
    };
  },
};

function decodeFinishReason(reason: wire.FinishReason): Action["finishReason"] {
  if (reason === wire.FinishReason.FINISH_REASON_UNSPECIFIED) return "stop";
  const found = (Object.keys(FINISH_REASON) as Action["finishReason"][]).find((name) => FINISH_REASON[name] === reason);
  if (found === undefined) throw invalid(`an action has the unknown finish reason ${reason}`);
  return found;
}

/** Codec: observation of an agent. */
export const observationCodec: Codec<Observation, wire.Observation, wire.Observation | undefined> = {
  encode: ({ agent, messages, tools, info, isFresh = false, maxTokens = 0 }) => ({
    agent,
    messages: messages.map(encodeMessage),
    tools: tools === undefined ? undefined : { tools: tools.map(encodeTool) },
    infoJson: toJson(info),
    isFresh,
    maxTokens,
  }),

  decode(observation) {
    if (observation === undefined) throw invalid("an observation is missing");
    const { agent, messages, tools, infoJson, isFresh, maxTokens } = observation;
    const info = fromOptionalJson(infoJson, "an observation's info");
    return {
      agent,
      messages: messages.map(decodeMessage),
      ...(tools === undefined ? undefined : { tools: tools.tools.map(decodeTool) }),
      ...(info === undefined ? undefined : { info }),
      ...(isFresh ? { isFresh } : undefined),
      ...(maxTokens > 0 ? { maxTokens } : undefined),
    };
  },
};

/** Codec: result of a step. */
export const stepCodec: Codec<StepResult, wire.StepResponse> = {
  encode: ({ observation, rewards, terminated, truncated, info }) => ({
    observation: observationCodec.encode(observation),
    rewards: new Map(Object.entries(rewards).map(([agent, reward]) => [agent, rewardCodec.encode(reward)])),
    terminated: new Map(Object.entries(terminated)),
    truncated: new Map(Object.entries(truncated)),
    infoJson: toJson(info),
  }),

  decode({ observation, rewards, terminated, truncated, infoJson }) {
    const info = fromOptionalJson(infoJson, "a step's info");
    return {
      observation: observationCodec.decode(observation),
      rewards: Object.fromEntries(Array.from(rewards, ([agent, reward]) => [agent, rewardCodec.decode(reward)])),
      terminated: Object.fromEntries(terminated),
      truncated: Object.fromEntries(truncated),
      ...(info === undefined ? undefined : { info }),
    };
  },
};

/** Codec: reward of an agent. */
export const rewardCodec: Codec<Reward, wire.Reward> = {
  encode(reward) {
    if (!reward.scored)
      return { result: { $case: "unscored", unscored: { code: reward.code, message: reward.message } } };
    const components = new Map(Object.entries(reward.components));
    for (const [name, value] of components) amount(value, `the reward component "${name}"`);
    return { result: { $case: "score", score: { value: amount(reward.value, "a reward"), components } } };
  },

  decode({ result }) {
    switch (result?.$case) {
      case "score": {
        const { value, components } = result.score;
        for (const [name, component] of components) amount(component, `the reward component "${name}"`);
        return { scored: true, value: amount(value, "a reward"), components: Object.fromEntries(components) };
      }
      case "unscored":
        return { scored: false, code: result.unscored.code, message: result.unscored.message };
      default:
        throw invalid("a reward is neither scored nor unscored");
    }
  },
};

/** Returns the number. Throws MESSAGE_INVALID unless a reward can have it. */
function amount(value: number, name: string): number {
  if (Math.abs(value) <= MAX_REWARD) return value;
  throw invalid(`${name} is ${value}, which is not a finite number of at most ${MAX_REWARD} from 0`);
}

import type { Action, Observation, StepResult } from "@mrlm/spec";
import * as wire from "../gen/mrlm/env/v1/environment.ts";
import { invalid } from "../invalid.ts";
import { fromOptionalJson, toJson } from "../json.ts";
import { decodeMessage, decodeTool, encodeMessage, encodeTool } from "./messages.ts";
import { decodeReward, encodeReward } from "./rewards.ts";

export function encodeAction({ agent, message, finishReason }: Action): wire.Action {
  return {
    agent,
    message: encodeMessage(message),
    finishReason:
      finishReason === "length" ? wire.FinishReason.FINISH_REASON_LENGTH : wire.FinishReason.FINISH_REASON_STOP,
  };
}

/** Decodes an action. An unspecified finish reason stands for `stop`. */
export function decodeAction(action: wire.Action | undefined): Action {
  if (action?.message === undefined) throw invalid("an action has no message");
  return {
    agent: action.agent,
    message: decodeMessage(action.message),
    finishReason: action.finishReason === wire.FinishReason.FINISH_REASON_LENGTH ? "length" : "stop",
  };
}

export function encodeObservation({ agent, messages, tools, info }: Observation): wire.Observation {
  return {
    agent,
    messages: messages.map(encodeMessage),
    tools: tools === undefined ? undefined : { tools: tools.map(encodeTool) },
    infoJson: toJson(info),
  };
}

export function decodeObservation(observation: wire.Observation | undefined): Observation {
  if (observation === undefined) throw invalid("an observation is missing");
  const { agent, messages, tools, infoJson } = observation;
  const info = fromOptionalJson(infoJson, "an observation's info");
  return {
    agent,
    messages: messages.map(decodeMessage),
    ...(tools === undefined ? undefined : { tools: tools.tools.map(decodeTool) }),
    ...(info === undefined ? undefined : { info }),
  };
}

export function encodeStep({ observation, rewards, terminated, truncated, info }: StepResult): wire.StepResponse {
  return {
    observation: encodeObservation(observation),
    rewards: new Map(Object.entries(rewards).map(([agent, reward]) => [agent, encodeReward(reward)])),
    terminated: new Map(Object.entries(terminated)),
    truncated: new Map(Object.entries(truncated)),
    infoJson: toJson(info),
  };
}

export function decodeStep({ observation, rewards, terminated, truncated, infoJson }: wire.StepResponse): StepResult {
  const info = fromOptionalJson(infoJson, "a step's info");
  return {
    observation: decodeObservation(observation),
    rewards: Object.fromEntries(Array.from(rewards, ([agent, reward]) => [agent, decodeReward(reward)])),
    terminated: Object.fromEntries(terminated),
    truncated: Object.fromEntries(truncated),
    ...(info === undefined ? undefined : { info }),
  };
}

import type { JsonObject, StepResult } from "@mrlm/spec";
import { observationText } from "../observation-text.ts";
import { stepDetails } from "../step-details.ts";
import type { ModelTurn } from "./model-turn.ts";

/**
 * Returns the answer of `/step`. Each call of the model has an output, which models need before they continue: the result of the tool, or for a malformed call
 * the text of the environment about it. All other text is the observation.
 */
export function stepAnswer(agent: string, { malformedIds }: ModelTurn, result: StepResult): JsonObject {
  const { messages } = result.observation;
  const results = messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-result"));
  const others = messages.map((message) => ({
    ...message,
    parts: message.parts.filter(({ type }) => type !== "tool-result"),
  }));
  const faults = others.filter(({ role }) => role === "tool" && malformedIds.length > 0);
  const fault = observationText(faults) || "The call is malformed and was not run.";
  const observation = observationText(others.filter((message) => !faults.includes(message)));
  const { terminated, truncated, reward, ...details } = stepDetails(agent, result);
  return {
    observation: observation === "" ? null : observation,
    reward: reward ?? 0,
    terminated: terminated ?? false,
    truncated: truncated ?? false,
    info: {
      tool_outputs: [
        ...results.map((part) => ({ call_id: part.id, output: observationText([{ role: "tool", parts: [part] }]) })),
        ...malformedIds.map((id) => ({ call_id: id, output: fault })),
      ],
      mrlm: details,
    },
  };
}

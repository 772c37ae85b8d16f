import { defined, type JsonObject, type Observation, type StepResult } from "@mrlm/spec";
import type { EpisodeEnd } from "../episode.ts";
import { stepDetails } from "../step-details.ts";
import { type Block, blocksOf } from "./blocks.ts";

/** Result of a call: `output`, or the mistake of a model, after which the session continues. */
export type CallResult =
  | {
      readonly ok: true;
      readonly output: {
        readonly blocks: readonly Block[];
        readonly metadata: JsonObject;
        readonly reward: number | null;
        readonly finished: boolean;
      };
    }
  | { readonly ok: false; readonly error: string; readonly reason?: Mistake };

/** Kind of a model's mistake. `name_collision` cannot occur: the names of an episode's tools differ. */
export type Mistake = "not_found" | "input_validation" | "episode_finished";

/** Returns the result of a step. Only the last one has a reward: the total of the episode, unless a step was unscored. */
export function callResult(agent: string, callId: string, result: StepResult, end: EpisodeEnd | undefined): CallResult {
  const total = end?.reward;
  return {
    ok: true,
    output: {
      blocks: blocksOf(result.observation.messages),
      metadata: {
        mrlm: {
          ...stepDetails(agent, result),
          is_error: isErrorOf(result.observation, callId),
          ...(total?.scored === false && { unscored: { code: total.code, message: total.message } }),
        },
      },
      reward: total?.scored === true ? total.value : null,
      finished: end !== undefined,
    },
  };
}

/** Returns the result of a call that is no action. */
export function mistake(reason: Mistake | undefined, error: string): CallResult {
  return { ok: false, error, ...defined({ reason }) };
}

/** Whether the tool reported an error to the model. */
function isErrorOf({ messages }: Observation, callId: string): boolean {
  return messages.some(({ parts }) =>
    parts.some((part) => part.type === "tool-result" && part.id === callId && part.isError),
  );
}

import type { EnvironmentContext, Message, Reward, Task } from "@mrlm/kit";
import type { ToolsOptions } from "./options.ts";
import { schemaOf } from "./prompt.ts";
import { hiddenOf, shownOf } from "./task.ts";

/** Scorer of generated tasks, whose answers are integers. */
const GENERATED = "math@2";

/** Returns the services that grade answers. */
export function scorersOf({ data, scorers }: ToolsOptions): readonly string[] {
  return data === undefined ? [GENERATED] : scorers;
}

/** Answer to grade: the text of the last message of the conversation. */
export interface GivenAnswer {
  readonly answer: string;
  readonly messages: readonly Message[];
  readonly signal: AbortSignal;
}

/** Grades an answer. The reward is unscored if the scorer fails, or cannot read the expected answer. */
export async function gradeOf(
  { answer, messages, signal }: GivenAnswer,
  task: Task,
  options: ToolsOptions,
  context: EnvironmentContext,
): Promise<Reward> {
  const scorer = options.data === undefined ? GENERATED : (shownOf(task).scorer ?? (options.scorers[0] as string));
  const { reward } = await context.scorer(scorer).score({
    answer,
    expected: hiddenOf(task).answer,
    schema: schemaOf(task, options),
    question: shownOf(task).question,
    messages,
    signal,
  });
  return reward;
}

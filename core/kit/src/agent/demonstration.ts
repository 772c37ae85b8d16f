import { type Demonstration, type Message, MrlmError, type SimulatedEnvironment, type TaskId } from "@mrlm/spec";
import { textMessage } from "../messages.ts";

/** Returns the conversation of a program with these answers. Rejects with PLUGIN_INVALID if it makes more or fewer calls, or changes its conversation. */
export async function demonstration(
  environment: SimulatedEnvironment,
  task: TaskId,
  answers: readonly (string | Message)[],
): Promise<Demonstration> {
  const { signal } = new AbortController();
  const invalid = (problem: string): MrlmError =>
    new MrlmError("PLUGIN_INVALID", `The worked solution of task ${task} does not fit the program: ${problem}.`, {
      hint: "Return one answer for each call from `solve`, in their order.",
    });
  try {
    const first = await environment.reset({ task, signal });
    const { agent } = first;
    const messages: Message[] = [];
    let observation = first;
    for (const [i, each] of answers.entries()) {
      if (observation.agent === "") throw invalid(`it ends after ${i} of ${answers.length} answers`);
      if (observation.agent !== agent || observation.isFresh === true || (i > 0 && observation.tools !== undefined))
        throw invalid(`call ${i + 1} begins another conversation or has other tools`);
      const message = typeof each === "string" ? textMessage("assistant", each) : each;
      messages.push(...observation.messages, message);
      ({ observation } = await environment.step({ agent, message, finishReason: "stop" }, { signal }));
    }
    if (observation.agent !== "") throw invalid(`it makes another call after ${answers.length} answers`);
    return { task, agent, messages, ...(first.tools !== undefined && { tools: first.tools }) };
  } finally {
    await environment.close?.();
  }
}

import { messageText, MrlmError, type Observation, type Policy, textMessage } from "@mrlm/kit";
import { CONDITIONS } from "./conditions.ts";
import { findingsIn } from "./language.ts";

/** Policies without a model. */
export const scriptedPolicies = {
  /** A patient that answers truthfully, or a doctor that asks nothing and guesses. Reads the style `words`. */
  truthful: (_context: unknown, options: unknown): Policy => {
    if (Object.keys(options ?? {}).length > 0)
      throw new MrlmError("OPTIONS_INVALID", "The scripted policy `truthful` of consultation@1 has no options.");
    let has = "";
    return {
      act: async ({ agent, messages }: Observation) => {
        const text = messages.map(messageText).join("\n");
        has = /You have: (.*?)\. You do not have/.exec(text)?.[1] ?? has;
        const question = text.split("The doctor asks: ").at(-1) as string;
        const asked = findingsIn(question, { style: "words", conditions: CONDITIONS.length });
        const answer = asked.some((each) => has.split(", ").includes(each)) ? "Yes." : "No.";
        return {
          agent,
          message: textMessage("assistant", agent === "patient" ? answer : `Diagnosis: ${CONDITIONS[0]?.name}`),
          finishReason: "stop",
        };
      },
    };
  },
};

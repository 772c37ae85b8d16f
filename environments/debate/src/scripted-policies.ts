import { messageText, textMessage } from "@mrlm/kit";
import { type EnvironmentContext, MrlmError, type Observation, type Policy } from "@mrlm/spec";
import { stockArguments } from "./stock-arguments.ts";

/** Policies without a model: no argument, the other side's last argument, and arguments that fit most propositions. */
export const scriptedPolicies = {
  silent: (_context: EnvironmentContext, options: unknown): Policy => policy(options, () => ""),
  parrot: (_context: EnvironmentContext, options: unknown): Policy =>
    policy(
      options,
      (shown) => /(?:The other side wrote:\n|You debate this proposition: )([^]*?)(?:\n|$)/.exec(shown)?.[1] ?? "",
    ),
  stock: (context: EnvironmentContext, options: unknown, seed: number): Policy => {
    let left: string[] = [];
    const random = context.random("debate/stock", seed);
    let stance: "pro" | "con" = "pro";
    let subject = "";
    return policy(options, (shown) => {
      const question = /You debate this proposition: (.*)/.exec(shown)?.[1];
      if (question !== undefined) {
        stance = shown.includes("You argue against it") ? "con" : "pro";
        subject = question.replace(/[.!?]$/, "").replace(/^\p{Lu}(?=\p{Ll})/u, (letter) => letter.toLowerCase());
        left = [];
      }
      if (left.length === 0) left = random.shuffle(stockArguments[stance]);
      return (left.pop() as string).replace("{proposition}", subject);
    });
  },
};

function policy(options: unknown, write: (shown: string) => string): Policy {
  if (Object.keys(options ?? {}).length > 0)
    throw new MrlmError("OPTIONS_INVALID", "The scripted policies of debate@1 have no options.");
  return {
    act: async ({ agent, messages }: Observation) => ({
      agent,
      message: textMessage("assistant", write(messages.map(messageText).join("\n"))),
      finishReason: "stop",
    }),
  };
}

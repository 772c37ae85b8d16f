import { createHash } from "node:crypto";
import { definePlugin, observe, singleStep, textMessage } from "@mrlm/kit";
import { score } from "@mrlm/spec";

const digest = (...parts: string[]): string => createHash("sha256").update(parts.join("\n")).digest("hex");

/**
 * Environment whose observations depend on every reset and step that its session received, in their order: a call that is applied twice,
 * lost or reordered changes all later observations.
 */
export const chainPlugin = definePlugin({
  name: "chain",
  environments: [
    {
      id: "chain@1",
      description: "Hashes what it receives.",
      determinism: "full",
      create: () => {
        let state = "";
        const next = (call: string, text: string) => {
          state = digest(state, call, text);
          return { messages: [textMessage("user", state)] };
        };
        return {
          async reset({ seed }) {
            return observe(next("reset", String(seed)).messages);
          },
          async step({ message: { parts } }) {
            const [part] = parts;
            // A pause, so that connections are lost while the environment works too.
            await new Promise((resolve) => setTimeout(resolve, 2));
            return singleStep({ ...next("step", part?.type === "text" ? part.text : ""), reward: score(1) });
          },
        };
      },
    },
  ],
});

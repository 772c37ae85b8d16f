import { fileURLToPath } from "node:url";
import { type JsonObject, messageText, type StepResult, textMessage } from "@mrlm/kit";
import { bareEnvironment } from "@mrlm/testing";
import { python } from "../../src/index.ts";

const FILE = fileURLToPath(new URL("faulty.py", import.meta.url));
export const never = new AbortController().signal;

/** Episode of an environment of faulty.py. */
export interface Episode {
  /** Text of the first observation. */
  readonly first: string;
  act(text: string, signal?: AbortSignal): Promise<StepResult>;
  close(): Promise<void>;
}

/** Opens an environment of faulty.py. Returns a function that begins an episode in a session of its own. */
export async function faulty(
  name: "Faulty" | "Echo",
  given: JsonObject = {},
): Promise<(signal?: AbortSignal) => Promise<Episode>> {
  const options = { kind: "gymnasium", name: `${FILE}:${name}`, processes: 1, reward_range: [0, 1], ...given };
  const bare = await bareEnvironment(python, options, {});
  return async (signal = never) => {
    const environment = await python.create(bare.context as never, bare.options);
    const { messages } = await environment.reset({ task: "train/0", signal });
    return {
      first: textOf({ observation: { messages } }),
      act: (text, late = never) =>
        environment.step(
          { agent: "agent", message: textMessage("assistant", text), finishReason: "stop" },
          { signal: late },
        ),
      close: async () => environment.close?.(),
    };
  };
}

/** Returns the text of the next observation. */
export function textOf({ observation }: { readonly observation: Pick<StepResult["observation"], "messages"> }): string {
  return observation.messages.map(messageText).join("\n");
}

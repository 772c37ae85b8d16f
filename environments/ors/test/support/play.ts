import { type JsonObject, type Message, messageText, type Reward, type StepResult, textMessage } from "@mrlm/kit";
import type { LocalHost } from "@mrlm/runtime";

const { signal } = new AbortController();
type Open = (options: JsonObject) => ReturnType<LocalHost["open"]>;

/** Episode of a test. */
export interface Played {
  readonly first: readonly Message[];
  readonly steps: readonly StepResult[];
  /** Rewards of the steps. */
  readonly rewards: readonly (Reward | undefined)[];
  /** Code of the last reward if it is unscored. */
  readonly code: string | undefined;
}

/** Message of a tool call. */
export function callOf(name: string, args: JsonObject): Message {
  return { role: "assistant", parts: [{ type: "tool-call", id: name, name, arguments: args }] };
}

/** Plays the messages of an episode, up to its end. */
export async function play(
  open: Open,
  options: JsonObject,
  messages: readonly (string | Message)[],
  { task, between }: { readonly task?: string; between?(turn: number): void | Promise<void> } = {},
): Promise<Played> {
  const session = await open(options);
  try {
    const first = await session.reset({ signal, ...(task !== undefined && { task }) });
    const steps: StepResult[] = [];
    for (const [turn, message] of messages.entries()) {
      await between?.(turn);
      const action = typeof message === "string" ? textMessage("assistant", message) : message;
      const step = await session.step({ agent: first.agent, message: action, finishReason: "stop" }, { signal });
      steps.push(step);
      if (step.observation.agent === "") break;
    }
    const rewards = steps.map(({ rewards: { agent } }) => agent);
    const last = rewards.at(-1);
    return { first: first.messages, steps, rewards, code: last?.scored === false ? last.code : undefined };
  } finally {
    await session.close();
  }
}

/** Returns the texts of messages, with those in results of tools. */
export function textsOf(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => [
    ...(messageText(message) === "" ? [] : [messageText(message)]),
    ...message.parts.flatMap((part) =>
      part.type === "tool-result" ? part.content.flatMap((each) => (each.type === "text" ? [each.text] : [])) : [],
    ),
  ]);
}

import { callTools, defineEnvironment, definePlugin, observe, singleStep, textMessage, toolCalls } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { type Action, score, type StepResult, type Tool, type ToolDefinition, unscored } from "@mrlm/spec";
import type { EnvironmentHost, EnvironmentSession } from "@mrlm/spec/host";
import { z } from "zod";

const hint: ToolDefinition = {
  name: "hint",
  description: "Returns the number of calls in this episode.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
};

/** Numbers to guess. It uses what the tables name: options, a random stream, a scorer, a judge, tools, limits. */
export const guessing = defineEnvironment({
  id: "guessing@1",
  description: "Guess a number from 0 to 9.",
  determinism: "full",
  maxTurns: 3,
  deadlines: { stepMs: 500 },
  options: z.strictObject({ most: z.int().min(1).default(9) }).prefault({}),
  rewardComponents: ["correct"],
  requires: ["scorer:equal@1", "judge:polite@1", "tool:hint@1"],
  create(context, { most }) {
    let wanted = 0;
    let tools: readonly Tool[] = [];
    return {
      async reset({ seed = 0, signal }) {
        wanted = context.random("number", seed).integer(0, most);
        ({ tools } = await context.tools("hint@1").open({ seed, signal }));
        return observe([textMessage("user", `A number from 0 to ${most}?`)], { tools: [hint] });
      },
      async step({ agent, message }, { signal }) {
        if (toolCalls(message).length > 0) return singleStep({ messages: await callTools(tools, message, { signal }) });
        const [part] = message.parts;
        const answer = part?.type === "text" ? part.text : "";
        if (answer === "wait") await new Promise((resolve) => signal.addEventListener("abort", resolve));
        if (answer === "give up") {
          const request = { turns: [], agents: [agent], task: { id: "", public: {}, private: {} } };
          const { rewards } = await context.judge("polite@1").judge(request, { signal });
          return singleStep({ reward: rewards[agent] ?? unscored("JUDGE_UNDECIDED", "No reward."), terminated: true });
        }
        const { reward } = await context.scorer("equal@1").score({ answer, expected: String(wanted) });
        const isRight = reward.scored && reward.value === 1;
        return singleStep({ messages: [textMessage("user", "No.")], reward, terminated: isRight });
      },
    };
  },
});

export const plugin = definePlugin({
  name: "guessing",
  environments: [guessing],
  scorers: {
    "equal@1": () => ({
      score: async ({ answer, expected }) => ({
        reward: score(Number(answer === expected), { correct: Number(answer === expected) }),
        verdict: answer === expected ? "equivalent" : "different",
        reason: "The texts were compared.",
      }),
    }),
  },
  judges: {
    "polite@1": () => ({
      judge: async ({ agents }) => ({
        rewards: Object.fromEntries(agents.map((agent) => [agent, unscored("JUDGE_UNDECIDED", "No text.")])),
        verdict: "undecided",
        reason: "There is no text.",
      }),
    }),
  },
  tools: {
    "hint@1": () => ({
      definitions: [hint],
      async open() {
        let calls = 0;
        const call: Tool["call"] = async () => ({ content: [{ type: "text", text: String(++calls) }], isError: false });
        return { tools: [{ ...hint, call }], close: async () => undefined };
      },
    }),
  },
});

export const never = new AbortController().signal;

/** Uses a host with the environments of plugins, and closes it. */
export async function withHost<T>(
  use: (host: EnvironmentHost) => Promise<T>,
  plugins: Parameters<typeof PluginHost.of>[0] = [plugin],
): Promise<T> {
  const host = new LocalHost({ source: await PluginHost.of(plugins) });
  try {
    return await use(host);
  } finally {
    await host.close();
  }
}

/** Opens a session of {@link guessing}, uses it and closes it. */
export function withSession<T>(use: (session: EnvironmentSession) => Promise<T>, options = {}): Promise<T> {
  return withHost(async (host) => {
    const session = await host.open({ id: "guessing@1", options });
    try {
      return await use(session);
    } finally {
      await session.close();
    }
  });
}

export function act(text: string): Action {
  return { agent: "agent", message: textMessage("assistant", text), finishReason: "stop" };
}

export function call(name: string): Action {
  const part = { type: "tool-call" as const, id: "1", name, arguments: {} };
  return { agent: "agent", message: { role: "assistant", parts: [part] }, finishReason: "stop" };
}

/** Guesses every number in episodes of a seed, and returns the one that is right. */
export async function numberOf(session: EnvironmentSession, seed: number): Promise<number> {
  for (let guess = 0; guess < 10; guess++) {
    await session.reset({ seed, signal: never });
    const { terminated }: StepResult = await session.step(act(String(guess)), { signal: never });
    if (terminated["agent"] === true) return guess;
  }
  throw new Error("No number is right.");
}

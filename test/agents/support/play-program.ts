import { definePlugin, type JsonObject, type JsonValue, type Message, type Part } from "@mrlm/kit";
import { type AgentDefinition, agentEnvironment, type AgentRun } from "@mrlm/kit/agent";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import type { Observation, StepResult } from "@mrlm/spec";

type Definition = AgentDefinition<unknown, JsonObject, JsonObject>;

/** Episode of a program. */
export interface PlayedProgram {
  readonly observations: readonly Observation[];
  readonly last: StepResult;
  /** Returned value of the program; the text of its error. */
  readonly result: JsonValue;
  readonly counts: JsonObject;
}

/** Plays a program in a host. The policy gives these answers in order, then empty ones. */
export async function playProgram(
  run: (episode: AgentRun<unknown, JsonObject>) => Promise<JsonValue | void>,
  answers: readonly Message[],
  more: Partial<Definition> = {},
): Promise<PlayedProgram> {
  let result: JsonValue = null;
  const definition = agentEnvironment<unknown>({
    id: "program@1",
    description: "Test.",
    tasks: () => ({
      splits: { train: 1, eval: 0 },
      get: async () => ({ id: "train/0", public: {}, private: {} }),
    }),
    score({ end }) {
      result = end.kind === "returned" ? end.result : end.kind === "failed" ? end.error : end.limit;
      return 1;
    },
    run,
    ...more,
  });
  const host = new LocalHost({
    source: await PluginHost.of([definePlugin({ name: "test", environments: [definition] })]),
  });
  const session = await host.open({ id: "program" });
  const { signal } = new AbortController();
  try {
    let observation = await session.reset({ task: "train/0", seed: 1, signal });
    const observations = [observation];
    for (;;) {
      const message = answers[observations.length - 1] ?? assistant();
      const last = await session.step({ agent: observation.agent, message, finishReason: "stop" }, { signal });
      if (last.observation.agent === "")
        return { observations, last, result, counts: last.info?.["agent"] as JsonObject };
      observations.push((observation = last.observation));
    }
  } finally {
    await session.close();
    await host.close();
  }
}

export const assistant = (...parts: readonly (string | Part)[]): Message => ({
  role: "assistant",
  parts: parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)),
});
export const call = (id: string, given: JsonObject): Part => ({
  type: "tool-call",
  id,
  name: "search",
  arguments: given,
});

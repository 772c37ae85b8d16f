import { textMessage } from "@mrlm/kit";
import { type Action, type AgentId, type EnvironmentDefinition, score, type StepResult } from "@mrlm/spec";
import { counterEnvironment } from "./counter-environment.ts";

/**
 * Environment in which agents take turns, `a` first, until there were `goal` messages. It continues without an exhausted agent. Each message earns 1; the long
 * observations of `a` fill its context first.
 */
export function relayEnvironment(
  overrides: Partial<EnvironmentDefinition<any>> & {
    readonly goal?: number;
    readonly agents?: readonly AgentId[];
    /** Called with each action. */
    readonly onAction?: (action: Action) => void;
    /** Changes the result of a step. */
    readonly change?: (result: StepResult, action: Action) => StepResult;
  } = {},
): EnvironmentDefinition<any> {
  const { goal = 8, agents = ["a", "b"], onAction, change = (result) => result, ...rest } = overrides;
  return counterEnvironment({
    roles: { a: {}, b: {} },
    create: () => {
      let living = [...agents];
      let sent = 0;
      const shown = (agent: AgentId) => ({
        agent,
        messages: [textMessage("user", agent.startsWith("a") ? "abcdefgh".repeat(3) : "b")],
      });
      return {
        async reset() {
          living = [...agents];
          sent = 0;
          return shown(living[0] as AgentId);
        },
        async step(action) {
          onAction?.(action);
          const at = living.indexOf(action.agent);
          const isExhausted = action.finishReason === "exhausted";
          const next = isExhausted ? at : at + 1;
          if (isExhausted) living.splice(at, 1);
          else sent++;
          const isOver = sent >= goal || living.length === 0;
          const flags = Object.fromEntries(living.map((agent) => [agent, isOver]));
          const result = {
            observation: isOver ? { agent: "", messages: [] } : shown(living[next % living.length] as AgentId),
            rewards: { [action.agent]: score(isExhausted ? 0.5 : 1) },
            terminated: flags,
            truncated: {},
          };
          return change(result, action);
        },
      };
    },
    ...rest,
  });
}

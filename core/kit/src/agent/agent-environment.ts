import { type EnvironmentDefinition, type JsonObject, SINGLE_AGENT } from "@mrlm/spec";
import { defineEnvironment } from "../define-plugin.ts";
import { anyTask, taskById } from "../task-ids.ts";
import { requireRole } from "./agent-model.ts";
import { AgentEpisode } from "./agent-episode.ts";
import { demonstration } from "./demonstration.ts";
import type { AgentDefinition, AgentLimits } from "./types.ts";

const LIMITS: AgentLimits = {
  calls: 100,
  callTokens: Infinity,
  seconds: 300,
  totalSeconds: 1_800,
  waiting: 64,
  bodyBytes: 8 << 20,
};

/**
 * Returns an environment whose episodes are runs of a program that calls a model: each call is an observation, and the policy's answer is the action. Write `tasks` before the functions
 * with a task as input: their types follow from it.
 */
export function agentEnvironment<
  Options,
  Public extends JsonObject = JsonObject,
  Private extends JsonObject = JsonObject,
  Opened = undefined,
>(definition: AgentDefinition<Options, Public, Private, Opened>): EnvironmentDefinition<Options, Public, Private> {
  const { run: _, score: __, calls: ___, open: ____, limits: given, solve, ...rest } = definition;
  const { roles = { [SINGLE_AGENT]: {} }, determinism = "replayable" } = definition;
  for (const rule of definition.calls ?? []) if ("role" in rule) requireRole(Object.keys(roles), rule.role);
  const stepMs = ((typeof given === "function" ? LIMITS : { ...LIMITS, ...given }).seconds + 10) * 1_000;
  const environment = defineEnvironment<Options, Public, Private>({
    ...rest,
    roles,
    determinism,
    deadlines: { setupMs: Math.max(60_000, stepMs), stepMs, ...definition.deadlines },
    create(context, options) {
      let episode: AgentEpisode<Options, Public, Private, Opened> | undefined;
      return {
        async reset({ task: id, seed, signal }) {
          episode?.close();
          const task = await taskById(context.tasks, id ?? anyTask(context, seed ?? 0));
          const limits = { ...LIMITS, ...(typeof given === "function" ? await given(options, task) : given) };
          // The session may have been closed meanwhile: then nothing would end the program.
          signal.throwIfAborted();
          const own = determinism === "none" ? null : (seed ?? 0);
          episode = new AgentEpisode({ definition, limits, roles, task, seed: own, options, context });
          return episode.begin();
        },
        async step(action, { signal }) {
          return (episode as AgentEpisode<Options, Public, Private, Opened>).step(action, signal);
        },
        async close() {
          episode?.close();
        },
      };
    },
  });
  if (solve === undefined) return environment;
  return {
    ...environment,
    async demonstrate(context, options, id) {
      const answers = solve(await taskById(context.tasks, id), options);
      return demonstration(await environment.create(context, options), id, answers);
    },
  };
}

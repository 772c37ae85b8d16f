import type { ModelId } from "@mrlm/spec";
import type { ResolvedConfig } from "./resolve-config.ts";

/** Name of the engine that the key `engine` of a configuration stands for. It holds the models that no other engine has. */
export const MAIN_ENGINE = "main";

/** One engine of a run. */
export interface ConfiguredEngine {
  readonly name: string;
  /** Configuration of a run with this engine alone, and with the policies that are on it. */
  readonly config: ResolvedConfig;
  /** Models that are on it; those of the main engine are all others. */
  readonly models: readonly ModelId[];
}

/** Returns the engines of a run, the main one first. */
export function enginesOf(config: ResolvedConfig): readonly ConfiguredEngine[] {
  const { engines = {}, ...others } = config;
  const isElsewhere = (policy: ModelId): boolean =>
    Object.values(engines).some(({ models }) => models.includes(policy));
  return [
    {
      name: MAIN_ENGINE,
      config: { ...others, policies: selected(config, (policy) => !isElsewhere(policy)) },
      models: [],
    },
    ...Object.entries(engines).map(([name, { models, ...own }]) => {
      const { provider, mode, check_memory, sampler_wait_seconds } = config.engine;
      return {
        name,
        config: {
          ...others,
          engine: { provider, mode, check_memory, sampler_wait_seconds, ...own },
          policies: selected(config, (policy) => models.includes(policy)),
          // Ranks are of the main engine.
          distributed: { ...config.distributed, enabled: false, nproc_per_node: 1, nnodes: 1 },
        },
        models,
      };
    }),
  ];
}

/** Whether the engine of a model reads the disk of another machine. @param model default: any model of the run */
export function isRemote(
  { engine, engines = {} }: Pick<ResolvedConfig, "engine" | "engines">,
  model?: ModelId,
): boolean {
  const further = Object.values(engines);
  if (model === undefined) return [engine, ...further].some(({ address }) => address !== undefined);
  return (further.find(({ models }) => models.includes(model)) ?? engine).address !== undefined;
}

function selected({ policies }: ResolvedConfig, isHere: (policy: ModelId) => boolean): ResolvedConfig["policies"] {
  return Object.fromEntries(Object.entries(policies).filter(([policy]) => isHere(policy)));
}

import { basename } from "node:path";
import { chatRenderer } from "@mrlm/kit/renderer";
import { configuredPlugins, PluginHost, policyOptions, trainedPolicy } from "@mrlm/runtime";
import type { Logger } from "@mrlm/spec";
import type { PolicySource } from "@mrlm/policy-server";
import { assertEngineInstalled, openEngine } from "./engine.ts";
import { rolloutSessionConfig } from "./rollout-session-config.ts";

/** Policies with the engine that samples from them. */
export interface ServedPolicies {
  readonly policies: readonly PolicySource[];
  close(): Promise<void>;
}

/** Options of `mrlm serve` that name policies. */
export interface PolicyArguments {
  readonly model?: string;
  readonly config?: string;
  readonly set?: readonly string[];
}

/** Starts an engine with the model of `--model` in throughput mode. */
export async function startedPolicies(
  { model, config: file, set }: PolicyArguments & { readonly model: string },
  options: {
    readonly directory: string;
    readonly logger: Logger;
    readonly note: (line: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<ServedPolicies> {
  const { directory, logger, note, signal } = options;
  // The configuration of a model without a run needs an environment, which is not opened.
  const named = { model, environment: "none", split: "eval" };
  const session = await rolloutSessionConfig({
    ...named,
    ...(file === undefined ? {} : { config: file }),
    ...(set === undefined ? {} : { set }),
  });
  if (session.notice !== undefined) note(`note: ${session.notice}`);
  const { address: _, ...engineSettings } = session.config.engine;
  const config = {
    ...session.config,
    engine: { ...engineSettings, mode: "throughput" as const },
    distributed: { ...session.config.distributed, nnodes: 1 },
  };
  const plugins = await PluginHost.discover({ directory, logger, ...configuredPlugins(session.loaded) });
  try {
    await assertEngineInstalled(config, plugins);
    note("starting the engine (loading torch)");
    const { engine, stop } = await openEngine({ config, plugins, logDirectory: undefined, signal });
    const close = async (): Promise<void> => {
      await stop();
      await plugins.close();
    };
    try {
      const { info, tokenizerFiles } = await engine.createModel({ ...policyOptions(config), trainable: false });
      const { policy, model: settings } = trainedPolicy(config);
      const renderer = chatRenderer({
        tokenizerFiles,
        eosTokenIds: info.eosTokenIds,
        ...(settings.tool_format === undefined ? {} : { toolFormat: settings.tool_format }),
      });
      const id = session.run === undefined ? basename(session.modelDirectory) : policy;
      return { policies: [{ id, engine, model: info.model, renderer }], close };
    } catch (error) {
      await stop();
      throw error;
    }
  } catch (error) {
    await plugins.close();
    throw error;
  }
}

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { connectEngine } from "@mrlm/client";
import { chatRenderer } from "@mrlm/kit/renderer";
import { configuredPlugins, PluginHost, policiesOf, policyOptions, trainedPolicy } from "@mrlm/runtime";
import { defined, type Logger, MrlmError } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import type { PolicySource } from "@mrlm/policy-server";
import type { ServeOptions } from "../declarations/serve.ts";
import { assertEngineInstalled, openEngine } from "./engine.ts";
import { rolloutSessionConfig, type RolloutSessionConfig } from "./rollout-session-config.ts";
import { engineToken } from "./client-access.ts";
import type { FetchModel } from "./stored-models.ts";

/** Policies with the engine that samples from them. */
export interface ServedPolicies {
  readonly policies: readonly PolicySource[];
  close(): Promise<void>;
}

/** Starts an engine with the model of `--model` in throughput mode. */
export async function startedPolicies(
  { model, policy: only, config: file, set }: Partial<ServeOptions> & { readonly model: string },
  options: {
    readonly directory: string;
    readonly fetch: FetchModel;
    readonly logger: Logger;
    readonly note: (line: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<ServedPolicies> {
  const { directory, fetch, logger, note, signal } = options;
  const names = only === undefined ? policiesOf(model) : [only];
  const sessions = await Promise.all(
    (names.length === 0 ? [undefined] : names).map((policy) =>
      rolloutSessionConfig(
        {
          model,
          // The configuration of a model without a run needs an environment, which is not opened.
          environment: "none",
          split: "eval",
          policy,
          config: file,
          set,
        },
        fetch,
      ),
    ),
  );
  const [first] = sessions as [RolloutSessionConfig];
  if (first.notice !== undefined) note(`note: ${first.notice}`);
  const { address: _, ...engineSettings } = first.config.engine;
  const config = {
    ...first.config,
    engine: { ...engineSettings, mode: "throughput" as const },
    distributed: { ...first.config.distributed, nnodes: 1 },
  };
  const plugins = await PluginHost.discover({ directory, logger, ...configuredPlugins(first.loaded) });
  try {
    await assertEngineInstalled(config, plugins);
    note("starting the engine (loading torch)");
    const { engine, stop } = await openEngine({ config, plugins, logDirectory: undefined, signal });
    const close = async (): Promise<void> => {
      await stop();
      await plugins.close();
    };
    try {
      const policies: PolicySource[] = [];
      for (const session of sessions) policies.push(await servedPolicy(engine, session, model));
      return { policies, close };
    } catch (error) {
      await stop();
      throw error;
    }
  } catch (error) {
    await plugins.close();
    throw error;
  }
}

/** File of a model directory with the value head. */
const VALUE_HEAD_FILE = "value_head.safetensors";

/** Loads a policy into the engine. Its id is its name in a run, else that of the model: of its directory or file, or `ORG/NAME`. */
async function servedPolicy(
  engine: Engine,
  { config, run, modelDirectory }: RolloutSessionConfig,
  given: string,
): Promise<PolicySource> {
  const { info, tokenizerFiles } = await engine.createModel({
    ...policyOptions(config),
    trainable: false,
    // The scores of a reward model; of a critic on a policy's backbone, its values.
    valueHead: existsSync(join(modelDirectory, VALUE_HEAD_FILE)),
  });
  const { policy, model: settings } = trainedPolicy(config);
  const renderer = chatRenderer({
    tokenizerFiles,
    eosTokenIds: info.eosTokenIds,
    ...defined({ toolFormat: settings.tool_format, mergeMessages: settings.merge_messages }),
  });
  const file = given.endsWith(".gguf") ? given : modelDirectory;
  const own = given.startsWith("hub:") ? given.slice(4) : basename(file, ".gguf");
  return { id: run === undefined ? own : policy, engine, model: info.model, renderer };
}

/** Connects to a live engine, and serves the policies that it holds. Sends no numbered calls: those belong to the client that trains. */
export async function livePolicies(address: string, tokenFile: string | undefined): Promise<ServedPolicies> {
  const engine = await connectEngine(address, engineToken(tokenFile));
  try {
    const { models } = await engine.describe();
    const held = models.filter(({ role }) => role === "policy");
    if (held.length === 0)
      throw new MrlmError("MODEL_NOT_FOUND", `The engine at ${address} holds no policy.`, {
        hint: "Start the server after the run has created its models.",
      });
    const policies = await Promise.all(
      held.map(async ({ model, eosTokenIds }) => {
        const tokenizerFiles = await engine.readTokenizer(model);
        return { id: model, engine, model, renderer: chatRenderer({ tokenizerFiles, eosTokenIds }) };
      }),
    );
    return { policies, close: () => engine.close() };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

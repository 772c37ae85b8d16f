import { definePlugin } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import type { EnvironmentDefinition, Renderer, TrajectoryGroup } from "@mrlm/spec";
import type { Engine, EnvironmentHost, RolloutRequest } from "@mrlm/spec/host";
import { LocalHost, PluginHost, RolloutRunner } from "@mrlm/runtime";
import type { RolloutRunnerOptions } from "../../src/rollouts/rollout-runner.ts";
import { BigramEngine } from "@mrlm/testing";
import { counterEnvironment } from "./counter-environment.ts";

export const tokenizerFiles = characterTokenizerFiles({ alphabet: 'abcdefghijklmnopqrstuvwxyz {}":/0123456789' });
export const renderer: Renderer = chatRenderer({ tokenizerFiles, eosTokenIds: [] });

export async function localHost(...definitions: EnvironmentDefinition<any>[]): Promise<LocalHost> {
  return new LocalHost({ source: await PluginHost.of([definePlugin({ name: "test", environments: definitions })]) });
}

/** Returns a host that opens other sessions than the one below it. */
export function withOpen(inner: EnvironmentHost, { open }: Pick<EnvironmentHost, "open">): EnvironmentHost {
  return {
    list: () => inner.list(),
    describe: (ref) => inner.describe(ref),
    demonstrate: (ref, tasks) => inner.demonstrate(ref, tasks),
    close: () => inner.close(),
    open,
  };
}

export async function bigramEngine(seed = 3): Promise<BigramEngine> {
  const engine = new BigramEngine();
  const config = {
    vocab_size: renderer.vocabSize,
    initializer_range: 1,
    eos_token_id: renderer.stopTokenIds[0],
    max_position_embeddings: 512,
  };
  await engine.createModel({
    model: "policy",
    role: "policy",
    trainable: true,
    source: { kind: "random", config, seed, tokenizerFiles },
  });
  await engine.publish("policy");
  return engine;
}

export async function runner(
  overrides: Partial<RolloutRunnerOptions> & { readonly host?: EnvironmentHost; readonly engine?: Engine } = {},
): Promise<RolloutRunner> {
  return new RolloutRunner({
    host: overrides.host ?? (await localHost(counterEnvironment())),
    engine: overrides.engine ?? (await bigramEngine()),
    runSeed: 0,
    isDeterministic: true,
    concurrency: 64,
    maxWaitMs: 5_000,
    logger: silentLogger,
    renderer: () => renderer,
    tokenLimit: () => 512,
    turnLimit: () => 0,
    ...overrides,
  });
}

export const request: RolloutRequest = {
  environment: { id: "counter" },
  tasks: ["train/0", "train/1", "train/2"],
  groupSize: 4,
  players: "policy",
  sampling: { temperature: 1, maxTokens: 12 },
  label: "test",
};

export async function collect(
  rollouts: RolloutRunner,
  changes: Partial<RolloutRequest> = {},
): Promise<TrajectoryGroup[]> {
  const groups: TrajectoryGroup[] = [];
  for await (const group of rollouts.collect({ ...request, ...changes })) groups.push(group);
  return groups;
}

/** Returns everything of groups that must not depend on the clock. */
export function withoutSeconds(groups: readonly TrajectoryGroup[]): unknown {
  return groups.map((group) => ({ ...group, trajectories: group.trajectories.map(({ seconds: _, ...rest }) => rest) }));
}

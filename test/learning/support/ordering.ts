import { rmSync } from "node:fs";
import { join } from "node:path";
import { chatRenderer } from "@mrlm/kit/renderer";
import {
  type EpisodeSummary,
  evaluate,
  loadConfig,
  LocalHost,
  PluginHost,
  policyOptions,
  type ResolvedConfig,
} from "@mrlm/runtime";
import type { AlgorithmDefinition, IterationReport, JsonObject, Renderer } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { ROOT } from "../../e2e/support/mrlm.ts";
import { startEngine } from "../../e2e/support/real-engine.ts";
import { iterate, rolloutsOf } from "../../e2e/support/stage.ts";

const POLICY = "policy";
const PLAY = { temperature: 1, maxTokens: 10 };

/** Returns an example's configuration. */
export const example = (path: string): ResolvedConfig => loadConfig(join(ROOT, "examples", path)).config;

/** Measures how well the policy sorts: the share of right greedy answers, and the mean reward of sampled ones. */
export interface Skill {
  readonly greedy: number;
  readonly sampled: number;
}

/** The task of the examples in `math/`, six digits to be sorted, and an engine with one policy at a time. Everything of one process. */
export class Ordering {
  readonly #config = example("math/grpo.yaml");
  readonly #engine: Engine;
  readonly #host: LocalHost;
  readonly #stop: () => Promise<void>;
  #renderer: Renderer | undefined;

  private constructor(engine: Engine, host: LocalHost, stop: () => Promise<void>) {
    this.#engine = engine;
    this.#host = host;
    this.#stop = stop;
  }

  static async open(): Promise<Ordering> {
    const host = new LocalHost({ source: await PluginHost.discover({ directory: ROOT }) });
    const { engine, stop } = await startEngine();
    return new Ordering(engine, host, stop);
  }

  async close(): Promise<void> {
    await this.#host.close();
    await this.#stop();
  }

  /** Puts a new policy in the place of the present one: from a directory, or with random weights. */
  async begin(directory?: string): Promise<void> {
    for (const { model } of (await this.#engine.describe()).models.toReversed()) await this.#engine.releaseModel(model);
    const source =
      directory === undefined ? policyOptions(this.#config).source : ({ kind: "directory", path: directory } as const);
    const { info, tokenizerFiles } = await this.#engine.createModel({
      model: POLICY,
      role: "policy",
      source,
      trainable: true,
      dtype: "float32",
    });
    this.#renderer = chatRenderer({ tokenizerFiles, eosTokenIds: info.eosTokenIds });
  }

  /** The iterations of one stage. */
  async *learn(algorithm: AlgorithmDefinition<any>, options: JsonObject, seed = 0): AsyncGenerator<IterationReport> {
    yield* iterate({ ...this.#place(), seed }, algorithm, options);
  }

  /** Measures the accuracy on the first 500 held-out tasks. */
  async measure(samples = 1): Promise<Skill> {
    await this.#engine.publish(POLICY);
    const tasks = Array.from({ length: 500 }, (_, i) => `eval/${i}`);
    const [result] = await evaluate({
      rollouts: rolloutsOf(this.#place()),
      environments: [{ ref: this.#place().environment, tasks, players: POLICY }],
      sampling: PLAY,
      samples,
    });
    const mean = (summary: EpisodeSummary | undefined): number => summary?.reward ?? Number.NaN;
    return { greedy: mean(result?.greedy), sampled: mean(result?.sampled) };
  }

  async keep(directory: string): Promise<void> {
    rmSync(directory, { recursive: true, force: true });
    await this.#engine.export(POLICY, directory);
  }

  #place() {
    const [{ id, options } = { id: "", options: {} }] = this.#config.environments;
    return {
      engine: this.#engine,
      policy: POLICY,
      host: this.#host,
      environment: { id, options },
      renderer: this.#renderer as Renderer,
      sampling: PLAY,
    };
  }
}

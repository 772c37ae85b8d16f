import { scoredTurns } from "@mrlm/kit/learning";
import { hash64 } from "@mrlm/kit/service";
import { type EngineUnit, type Message, MrlmError, type RewardModel } from "@mrlm/spec";
import type { CreateModelOptions, Engine } from "@mrlm/spec/host";
import { assertModelDirectory, modelDirectory } from "../run/model-directory.ts";
import { loadedModel } from "./loaded-model.ts";

/** Engine that holds reward models, with the function that releases it. */
interface RewardEngine {
  readonly engine: Pick<Engine, "createModel" | "describe" | "forward" | "readTokenizer">;
  close(): Promise<void>;
}

/** Reward models in the engine of a process, each loaded once. */
export class RewardModels {
  readonly #open: () => Promise<RewardEngine>;
  readonly #loaded = new Map<string, Promise<LoadedRewardModel>>();
  #engine: Promise<RewardEngine> | undefined;

  /** @param open connects to the engine; called at the first score */
  constructor(open: () => Promise<RewardEngine>) {
    this.#open = open;
  }

  /** Returns the model of a run or of a directory, as the engine creates it. Rejects where there is none. */
  static async options(path: string): Promise<CreateModelOptions> {
    const { path: directory } = await modelDirectory(path);
    assertModelDirectory(directory);
    return {
      model: `reward-${hash64(directory).toString(16)}`,
      role: "reward",
      source: { kind: "directory", path: directory },
      trainable: false,
      valueHead: true,
    };
  }

  /** Returns the model of a run or of a directory. Loads nothing yet. */
  model(path: string): RewardModel {
    return { score: async (messages, { signal } = {}) => (await this.#load(path)).score(messages, signal) };
  }

  async close(): Promise<void> {
    await (await this.#engine?.catch(() => undefined))?.close();
  }

  #load(path: string): Promise<LoadedRewardModel> {
    const loading = this.#loaded.get(path) ?? this.#loadNow(path);
    this.#loaded.set(path, loading);
    // A later score tries again.
    loading.catch(() => this.#loaded.delete(path));
    return loading;
  }

  async #loadNow(path: string): Promise<LoadedRewardModel> {
    this.#engine ??= this.#open();
    this.#engine.catch(() => (this.#engine = undefined));
    const { engine } = await this.#engine;
    const options = await RewardModels.options(path);
    const { model } = options;
    const { models } = await engine.describe();
    const held = models.find((each) => each.model === model);
    // The checkpoint of a resumed run has it.
    if (held !== undefined) return new LoadedRewardModel(engine, loadedModel(await engine.readTokenizer(model), held));
    const { info, tokenizerFiles } = await engine.createModel(options);
    return new LoadedRewardModel(engine, loadedModel(tokenizerFiles, info));
  }
}

interface Waiting {
  readonly unit: EngineUnit;
  readonly resolve: (scores: readonly number[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Model in the engine. Conversations that arrive during a pass are scored together in the next: their scores do not depend on that. */
class LoadedRewardModel {
  readonly #engine: RewardEngine["engine"];
  readonly #loaded: ReturnType<typeof loadedModel>;
  #waiting: Waiting[] = [];
  #isScoring = false;

  constructor(engine: RewardEngine["engine"], loaded: ReturnType<typeof loadedModel>) {
    this.#engine = engine;
    this.#loaded = loaded;
  }

  async score(messages: readonly Message[], signal?: AbortSignal): Promise<readonly number[]> {
    signal?.throwIfAborted();
    const { info, renderer } = this.#loaded;
    const longest = info.maxPositions === 0 ? Number.POSITIVE_INFINITY : info.maxPositions;
    const sequences = scoredTurns(renderer.supervise(messages), longest);
    if (sequences.length === 0)
      throw new MrlmError("DATA_INVALID", "The conversation has no message of the assistant to score.");
    const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
    const onAbort = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#waiting.push({ unit: { sequences }, resolve, reject });
    if (!this.#isScoring) void this.#scoreAll();
    return await promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }

  async #scoreAll(): Promise<void> {
    this.#isScoring = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        const units = batch.map(({ unit }) => unit);
        const { model } = this.#loaded.info;
        const outputs = await this.#engine.forward({ model, units, outputs: { value: true } });
        for (const [i, { resolve, reject }] of batch.entries()) {
          const scores = Array.from(outputs[i]?.value ?? []);
          if (scores.length > 0 && scores.every(Number.isFinite)) resolve(scores);
          else reject(new MrlmError("INTERNAL", `The reward model "${model}" returned no finite score.`));
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isScoring = false;
  }
}

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import {
  canonicalJson,
  type EvaluationResult,
  type OpenedSession,
  parseConfig,
  type ResolvedConfig,
  RunDirectory,
  type StoredKind,
} from "@mrlm/runtime";
import { type JsonObject, MrlmError, type TaskId } from "@mrlm/spec";
import type { EpisodeStore } from "@mrlm/spec/host";
import { type EpisodeReader, openEpisodeStore, STORE_FILE } from "@mrlm/store";
import { join } from "node:path";
import { resumeLine } from "../console/resume-line.ts";
import { VERSION } from "../version.ts";
import type { EvaluationFlags } from "./evaluation-cells.ts";
import { plainJson } from "./plain-json.ts";

/** Value of `kind` in run.json of an evaluation. */
const KIND = "evaluation";

/** Result of one model in one environment, or in one role of it, as run.json has it. */
export interface RecordedResult extends EvaluationResult {
  /** Name of the model among several, else its directory or the name at its endpoint. */
  readonly name: string;
  readonly split: string;
  /** Places of the episodes in the store. */
  readonly episodes: readonly (Pick<StoredKind, "label" | "key" | "size"> & {
    /** Index of the first task; default 0. */
    readonly first?: number;
    readonly tasks: number;
  })[];
  /** Text that two evaluations of the same environment have in common, with its options and players. */
  readonly environment_key: string;
}

/** Returns where the store has the episodes of a result. */
export function kindsOf({ episodes, split }: RecordedResult): StoredKind[] {
  return episodes.map(({ first = 0, tasks, ...kind }) => ({
    ...kind,
    tasks: Array.from({ length: tasks }, (_, i): { readonly task: TaskId } => ({ task: `${split}/${first + i}` })),
  }));
}

/** Returns the results of a finished evaluation. */
export function resultsOf(run: RunDirectory): readonly RecordedResult[] {
  return (run.readRecord()["results"] ?? []) as unknown as readonly RecordedResult[];
}

/** Directory of an evaluation: it is locked, and its store receives the episodes. */
export class EvaluationRun {
  readonly directory: RunDirectory;
  readonly store: EpisodeStore;
  readonly #release: () => void;
  #record: JsonObject;
  /** Entries of the environments in the configuration. */
  readonly #environments = new Map<string, JsonObject>();

  private constructor(directory: RunDirectory, store: EpisodeStore, release: () => void, record: JsonObject) {
    this.directory = directory;
    this.store = store;
    this.#release = release;
    this.#record = record;
  }

  /** Opens the directory of a resumed evaluation, or creates one. Rejects with RUN_IN_USE where another process has it. */
  static async open(
    existing: RunDirectory | undefined,
    flags: EvaluationFlags | undefined,
    { name, config }: { readonly name: string; readonly config: ResolvedConfig },
  ): Promise<EvaluationRun> {
    const source = existsSync(flags?.config ?? "") ? `# ${flags?.config}\n` : "";
    const directory = existing ?? RunDirectory.create({ ...withoutTraining(config), name }, source);
    directory.assertWritable();
    const lock = directory.lock();
    try {
      const before = directory.readRecord();
      const now = new Date().toISOString();
      const id = typeof before["id"] === "string" ? before["id"] : randomUUID();
      const { error: _, ended: __, comparisons: ___, unmet: ____, ...kept } = before;
      const record: JsonObject = {
        ...kept,
        ...{ id, kind: KIND, name: before["name"] ?? name, seed: config.seed },
        ...(flags === undefined ? {} : { flags: plainJson(flags) }),
        started: before["started"] ?? now,
        resumed: [...((before["resumed"] ?? []) as string[]), ...(existing === undefined ? [] : [now])],
        versions: { mrlm: VERSION },
      };
      const path = join(directory.path, STORE_FILE);
      const store = await openEpisodeStore({ path, run: id, purpose: "eval", endsLeases: false, resumedAt: -1 });
      const run = new EvaluationRun(directory, store, () => lock.release(), record);
      run.#update({ status: "running" });
      return run;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Reads the directory of an evaluation; those of `mrlm try` have no flags. Throws RUN_NOT_FOUND, and USAGE for a run that trains. */
  static find(path: string): { readonly directory: RunDirectory; readonly flags: EvaluationFlags | undefined } {
    const directory = RunDirectory.open(path);
    const { kind, flags } = directory.readRecord();
    if (kind === KIND) return { directory, flags: flags as unknown as EvaluationFlags | undefined };
    throw new MrlmError("USAGE", `${directory.path} is no evaluation.`, {
      hint: "Name a directory that `mrlm eval` has made.",
    });
  }

  /** Adds an environment that is measured, for programs that show or score its episodes. */
  describe(config: ResolvedConfig, { ref, known, description }: OpenedSession["environment"]): void {
    const { environments = {} } = this.#record;
    const packages = { ...(environments as JsonObject), [description.id]: { ...description.providedBy } };
    this.#update({ environments: packages as unknown as JsonObject });
    const { players, sides, max_turns } = known ?? {};
    const entry = plainJson({ id: ref.id, options: ref.options ?? {}, max_turns, players, sides });
    this.#environments.set(canonicalJson(entry), entry);
    const evaluation = { ...config.eval, environments: [...this.#environments.values()] } as unknown;
    this.directory.writeConfig({ ...withoutTraining(config), eval: evaluation as ResolvedConfig["eval"] });
  }

  /** Opens the stored episodes. The caller closes it. */
  read(): EpisodeReader {
    return this.directory.readEpisodes() as EpisodeReader;
  }

  /** Writes the results so far, and their rows of metrics. @param isOfOne whether one model is measured */
  async addResults(results: readonly RecordedResult[], isOfOne: boolean): Promise<void> {
    this.#update({ results: plainJson(results) });
    const rows = results.map(({ greedy, sampled, environment, name, tasks }) => ({
      ...({ kind: "evaluation", step: 0, stage: "eval" } as const),
      ...plainJson({
        environment: isOfOne ? environment : `${name}/${environment}`,
        ...{ tasks, greedy, sampled },
      }),
    }));
    this.directory.metrics.keep(() => false);
    for (const row of rows) this.directory.metrics.append(row);
    await this.store.mirror(rows);
  }

  /** Writes how the evaluation ended. */
  ended(fields: JsonObject): void {
    this.#update({ ...fields, ended: new Date().toISOString() });
  }

  #update(fields: JsonObject): void {
    this.#record = { ...this.#record, ...fields };
    this.directory.writeRecord(this.#record);
  }

  /** Command that continues the evaluation. */
  get resumeLine(): string {
    return resumeLine(this.directory.path, "eval");
  }

  async close(): Promise<void> {
    await this.store.close().finally(this.#release);
  }
}

/** Returns a configuration that names what is measured, and trains nothing. */
function withoutTraining(config: ResolvedConfig): ResolvedConfig {
  const [model = {}] = Object.values(config.policies);
  const text = JSON.stringify({ model: { path: "." }, stages: [{ algorithm: "none" }] });
  const { policies, stages } = parseConfig(text, { path: "eval.yaml" }).config;
  const [policy = ""] = Object.keys(policies);
  return { ...config, policies: { [policy]: { ...policies[policy], ...model } as never }, environments: [], stages };
}

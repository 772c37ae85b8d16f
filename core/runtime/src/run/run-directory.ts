import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, relative, resolve, sep } from "node:path";
import { isAlive } from "@mrlm/process";
import { fileFault, type JsonObject, type ModelId, MrlmError, type PolicyId } from "@mrlm/spec";
import { EpisodeReader, isPostgres, STORE_FILE, type StorePlace } from "@mrlm/store";
import { parse, stringify } from "yaml";
import { withShortForms } from "../config/policies.ts";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { storePlaceOf } from "../plugins/store-plugin.ts";
import { Checkpoints, modelFolder } from "./checkpoints.ts";
import { makeDirectory, writeAtomically } from "./atomic-write.ts";
import { reading } from "./read-failure.ts";
import { MetricsFile } from "./metrics-file.ts";
import { isLocked, lockRun, type RunLock } from "./run-lock.ts";
import { runNotFound } from "./run-not-found.ts";
import { asOutputFault } from "./write-failure.ts";

const CONFIG = "config.yaml";
const SOURCE = "config.source.yaml";
const RECORD = "run.json";
const ENGINE = "engine.json";
const ENGINES = "engines";
const STORE_TOKEN = "store.token";
const SAMPLERS = "samplers";
/** Store of the episodes of a run of an earlier build. */
const EARLIER_STORE = "trajectories.sqlite";

const OUTPUT_HINT = "Set `output` of the configuration, or --output, to a directory in which you may write.";

/** Address of an engine, with the token that it asks for. */
export interface EnginePlace {
  readonly address: string;
  readonly token?: string;
}

/** Places of the engines of a run: of the main one, and of those that the configuration names beside it. */
export interface EnginePlaces extends EnginePlace {
  readonly engines?: Readonly<Record<string, EnginePlace>>;
}

/** A sampler that joined a run by itself. */
export interface SamplerFile extends EnginePlace {
  /** Unique in the run. */
  readonly name: string;
  /** Process that removes the file at its end, and its machine. */
  readonly pid: number;
  readonly host: string;
  /** For a sampler behind TLS; authorities of its certificate in PEM form. Default: those that Node trusts. */
  readonly tls?: { readonly ca?: string };
  /** Addresses at which it reaches engines, by their names, where they are not those of the training process. */
  readonly engines?: Readonly<Record<string, string>>;
}

/**
 * Directory of a run:
 *
 *     config.yaml           the resolved configuration; it can be loaded again
 *     config.source.yaml    the configuration as it was given
 *     run.json              times of start and resumption, versions, and the result
 *     engine.json           addresses and tokens of the engines while the run trains, for rollout workers; its owner alone can read it
 *     store.token           token of the store server of the run, unless it was given one; its owner alone can read it
 *     engines/NAME/         the log of an engine beside the main one
 *     samplers/NAME.json    the same of a sampler that joined the run
 *     samplers/NAME/        the log of a sampler
 *     lock                  held by the process that trains it
 *     train.log             printed lines and details, for people
 *     metrics.jsonl         a row for each iteration and evaluation
 *     episodes.sqlite       buffer and record of all episodes: batches, credits, published weights
 *     tokenizer/            the files of the tokenizer
 *     tokenizers/NAME/      the same of a frozen model that plays, or of one of several policies
 *     checkpoints/N/        complete checkpoints by step
 *     model/                the trained model as a Hugging Face directory
 *     models/NAME/          the same of each of several policies
 */
export class RunDirectory {
  readonly path: string;
  readonly metrics: MetricsFile;
  readonly checkpoints: Checkpoints;

  private constructor(path: string) {
    this.path = path;
    this.metrics = new MetricsFile(join(path, "metrics.jsonl"));
    this.checkpoints = new Checkpoints(path);
  }

  /** Creates `<output>/<name>-<timestamp>`. Throws OUTPUT_INVALID where the place accepts no file, WRITE_FAILED where the disk is full. */
  static create(config: ResolvedConfig, sourceText: string, now = new Date()): RunDirectory {
    const stamp = now.toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
    try {
      makeDirectory(config.output.directory);
      const run = new RunDirectory(unusedName(join(config.output.directory, `${config.name}-${stamp}`)));
      run.writeConfig(config);
      run.writeSource(sourceText);
      return run;
    } catch (error) {
      throw asOutputFault(error, `The run directory cannot be made in ${config.output.directory}`, OUTPUT_HINT);
    }
  }

  /**
   * Checks that a run directory can be created, without creating one. Throws OUTPUT_INVALID.
   * @param directory the output directory; it and its parents may be missing
   */
  static assertCreatable(directory: string): void {
    try {
      let existing = resolve(directory);
      while (!existsSync(existing)) existing = dirname(existing);
      // The trailing separator makes a file an error.
      accessSync(`${existing}/`, constants.W_OK | constants.X_OK);
    } catch (error) {
      throw asOutputFault(error, `The run directory cannot be made in ${directory}`, OUTPUT_HINT);
    }
  }

  /** Opens a run, given its directory or one of its checkpoints. Throws RUN_NOT_FOUND. */
  static open(path: string): RunDirectory {
    const given = resolve(path);
    const candidates = [given, dirname(dirname(given))];
    const found = candidates.find((candidate) => existsSync(join(candidate, CONFIG)));
    if (found === undefined) throw runNotFound(given);
    return new RunDirectory(found);
  }

  /** Whether a path is the run's own directory, and not a checkpoint in it. */
  names(path: string): boolean {
    return resolve(path) === this.path;
  }

  get configPath(): string {
    return join(this.path, CONFIG);
  }

  /** Path of the Hugging Face directory of a policy; by default of the only one. */
  modelPath(policy?: PolicyId): string {
    return join(this.path, modelFolder(policy));
  }

  /** File of the episode store in the directory, or the URL of a database that run.json names. */
  get episodesPath(): string {
    const { store } = this.readRecord();
    return typeof store === "string" ? store : join(this.path, STORE_FILE);
  }

  /** Place of the episode store, with the plugin that opens a database. */
  get store(): StorePlace {
    const path = this.episodesPath;
    if (!isPostgres(path)) return { path };
    const { plugins, base_directory: relativeTo } = parse(readFileSync(this.configPath, "utf8")) as ResolvedConfig;
    return storePlaceOf(path, { plugins, relativeTo });
  }

  /** Whether there is an episode store. A database is looked into only when it is opened. */
  get hasEpisodes(): boolean {
    const path = this.episodesPath;
    return isPostgres(path) || existsSync(path);
  }

  writeConfig(config: ResolvedConfig): void {
    writeAtomically(this.configPath, stringify(withShortForms(config)));
  }

  /** Replaces the configuration as it was given. */
  writeSource(text: string): void {
    writeAtomically(join(this.path, SOURCE), text);
  }

  writeRecord(record: JsonObject): void {
    writeAtomically(join(this.path, RECORD), `${JSON.stringify(record, null, 2)}\n`);
  }

  /** Reads the last record; empty for a run without one. A loss of power may leave an empty file. Throws DATA_INVALID if it is damaged. */
  readRecord(): JsonObject {
    const path = join(this.path, RECORD);
    if (!existsSync(path)) return {};
    try {
      const text = readFileSync(path, "utf8");
      return text === "" ? {} : (JSON.parse(text) as JsonObject);
    } catch (cause) {
      throw new MrlmError("DATA_INVALID", `${path} cannot be read: ${fileFault(cause)}.`, {
        hint: "It is a record of the run's status and versions, and nothing is trained by it. Move it away to use the other files of the run.",
        cause,
      });
    }
  }

  /** Writes where rollout workers reach the engines of the training process. */
  writeEngine(place: EnginePlaces): void {
    writeAtomically(join(this.path, ENGINE), JSON.stringify({ ...place, since: Date.now() }), 0o600);
  }

  /** Path of the token that a store server of the run makes. */
  get storeTokenPath(): string {
    return join(this.path, STORE_TOKEN);
  }

  /** Removes what `writeEngine` wrote. */
  removeEngine(): void {
    rmSync(join(this.path, ENGINE), { force: true });
  }

  /** Returns where the engines of the training process are reached; `undefined` where none trains the run. A killed process leaves its file. */
  readEngine(): (EnginePlaces & { readonly since: number }) | undefined {
    try {
      const text = readFileSync(join(this.path, ENGINE), "utf8");
      return text === "" ? undefined : (JSON.parse(text) as EnginePlaces & { readonly since: number });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Writes where the processes of the run reach a sampler. Returns the file. */
  writeSampler(place: SamplerFile): string {
    const folder = join(this.path, SAMPLERS);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, `${place.name}.json`);
    writeAtomically(file, JSON.stringify(place), 0o600);
    return file;
  }

  /** Directory for the log of an engine; by default of the main one. */
  engineLogs(name?: string): string {
    return name === undefined ? this.path : join(this.path, ENGINES, name);
  }

  /** Directory for the log of a sampler. */
  samplerLogs(name: string): string {
    return join(this.path, SAMPLERS, name);
  }

  /** Returns the samplers that joined the run. Deletes the files of processes of this machine that have ended. */
  readSamplers(): SamplerFile[] {
    const folder = join(this.path, SAMPLERS);
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
    return names.flatMap((name) => {
      const file = join(folder, name);
      try {
        const place = JSON.parse(readFileSync(file, "utf8")) as SamplerFile;
        if (place.host !== hostname() || isAlive(place.pid)) return [place];
        rmSync(file, { force: true });
      } catch {
        // The sampler has ended, and its file has gone.
      }
      return [];
    });
  }

  /** Locks the run for this process. Throws RUN_IN_USE. */
  lock(): RunLock {
    return lockRun(this.path);
  }

  /** Whether a process is training the run. Writes nothing. */
  get isLocked(): boolean {
    return isLocked(this.path);
  }

  /** Throws OUTPUT_INVALID if no file can be created in the directory. */
  assertWritable(): void {
    try {
      accessSync(this.path, constants.W_OK);
    } catch (error) {
      throw new MrlmError(
        "OUTPUT_INVALID",
        `Nothing can be written in the run directory ${this.path}: ${fileFault(error)}.`,
        { hint: "Copy it to a place in which you may write, and continue the copy.", cause: error },
      );
    }
  }

  /**
   * Opens the episodes for reading; `undefined` if there are none. The caller closes it. Throws STORE_INVALID for a run of an earlier build.
   */
  readEpisodes(): EpisodeReader | undefined {
    if (this.hasEpisodes) return new EpisodeReader(this.store);
    if (!existsSync(join(this.path, EARLIER_STORE))) return undefined;
    throw new MrlmError(
      "STORE_INVALID",
      `${this.path} keeps its episodes in ${EARLIER_STORE}, in the form of an earlier build.`,
      {
        hint: `This version reads ${STORE_FILE}. Use the build that wrote the run, or start a new one.`,
      },
    );
  }

  /**
   * Stores a tokenizer's files: a resumed run needs them, and engines do not send them again.
   * @param model a frozen model, or one of several policies; default: the only policy
   */
  writeTokenizer(files: Readonly<Record<string, Uint8Array>>, model?: ModelId): void {
    const directory = this.#tokenizerPath(model);
    for (const [name, content] of Object.entries(files)) {
      const path = join(directory, name);
      mkdirSync(dirname(path), { recursive: true });
      writeAtomically(path, content);
    }
  }

  /** Reads what `writeTokenizer` wrote. Throws DATA_INVALID where it is gone or cannot be read. */
  readTokenizer(model?: ModelId): Record<string, Uint8Array> {
    const directory = this.#tokenizerPath(model);
    return reading(directory, () => {
      const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      return Object.fromEntries(
        files.map(({ parentPath, name }) => {
          const path = join(parentPath, name);
          return [relative(directory, path).replaceAll(sep, "/"), new Uint8Array(readFileSync(path))];
        }),
      );
    });
  }

  #tokenizerPath(model: ModelId | undefined): string {
    return model === undefined ? join(this.path, "tokenizer") : join(this.path, "tokenizers", model);
  }
}

function unusedName(preferred: string): string {
  for (let i = 1; ; i++) {
    const path = i === 1 ? preferred : `${preferred}-${i}`;
    try {
      mkdirSync(path);
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

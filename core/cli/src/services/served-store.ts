import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { idOfRun, joinRun, type Membership, RunDirectory, thisProcess } from "@mrlm/runtime";
import { statusOfRun } from "./run-status.ts";
import type { StoreSource } from "@mrlm/server";
import { defined, type Logger, MrlmError } from "@mrlm/spec";
import type { EpisodeStore } from "@mrlm/spec/host";
import { openEpisodeStore, runOfStore } from "@mrlm/store";

/** Time between two looks for a store that the training process has not made yet, in milliseconds. */
const LOOK_MS = 500;
/** Age at which the description is made again, in milliseconds: each worker asks for it twice a second. */
const DESCRIBED_MS = 250;

/** The store of a run, or of a file, beside the processes that write it too. */
export class ServedStore implements StoreSource {
  readonly #file: string | undefined;
  readonly #run: RunDirectory | undefined;
  readonly #logger: Logger;
  #opening: Promise<EpisodeStore> | undefined;
  #membership: Promise<Membership> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #described: { readonly run: ReturnType<StoreSource["describe"]>; readonly at: number } | undefined;

  /**
   * Throws RUN_NOT_FOUND for a path that is neither, STORE_INVALID for a file that is no store.
   * @param path directory of a run, or an episode store
   */
  constructor(path: string, logger: Logger) {
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    this.#run = isFile ? undefined : RunDirectory.open(path);
    this.#file = isFile ? resolve(path) : undefined;
    this.#logger = logger;
    if (this.#exists) runOfStore(this.#path);
  }

  /** A run names its place when its training process begins. */
  get #path(): string {
    return this.#file ?? (this.#run as RunDirectory).episodesPath;
  }

  get #exists(): boolean {
    return this.#run?.hasEpisodes ?? existsSync(this.#path);
  }

  /** Directory of the run, or path of the store. */
  get path(): string {
    return this.#run?.path ?? this.#path;
  }

  /** Path of the token of a server that is given none. */
  get tokenPath(): string {
    return this.#run?.storeTokenPath ?? `${this.#path}.token`;
  }

  store = (): Promise<EpisodeStore> => {
    if (this.#opening !== undefined) return this.#opening;
    if (!this.#exists) {
      const hint = "The training process makes it when it begins: call again.";
      return Promise.reject(new MrlmError("STORE_FAILED", `${this.#path} does not exist yet.`, { hint }));
    }
    const id = this.#run === undefined ? undefined : idOfRun(this.#run);
    const about = { ...(this.#run?.store ?? { path: this.#path }), purpose: "train", endsLeases: false } as const;
    const opening = openEpisodeStore({ ...about, ...defined({ run: id }) });
    this.#opening = opening;
    // The next call tries again.
    opening.catch(() => (this.#opening = undefined));
    return opening;
  };

  describe: StoreSource["describe"] = () => {
    if (this.#run === undefined) return { path: this.#path, config: "", hasEnded: false, isLocked: false };
    const now = performance.now();
    if (this.#described !== undefined && now - this.#described.at < DESCRIBED_MS) return this.#described.run;
    const config = readFileSync(this.#run.configPath, "utf8");
    const run = { path: this.#run.path, config, ...statusOfRun(this.#run) };
    this.#described = { run, at: now };
    return run;
  };

  /** Adds this process to the members of the run, as soon as there is a store. */
  join(name: string, address: string): void {
    const tried = async (): Promise<void> => {
      if (!this.#exists) return void (this.#timer = setTimeout(() => void tried(), LOOK_MS).unref());
      const store = await this.store();
      this.#membership = joinRun(store, [thisProcess(name, "store", {}, address)], { logger: this.#logger });
    };
    tried().catch((error: Error) => this.#logger.warn(`The store was not opened: ${error.message}`));
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const store = await this.#opening?.catch(() => undefined);
    await (await this.#membership)?.leave();
    await store?.close();
  }
}

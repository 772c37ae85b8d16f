import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectStore } from "@mrlm/client";
import type { ClientFiles } from "@mrlm/kit/access";
import { temporaryFolder } from "@mrlm/process";
import { type EnginePlaces, idOfRun, loadConfig, type LoadedConfig, RunDirectory, storePlaceOf } from "@mrlm/runtime";
import { type RunStatus, statusOfRun } from "./run-status.ts";
import { defined, MrlmError } from "@mrlm/spec";
import type { EpisodeStore } from "@mrlm/spec/host";
import { isPostgres, openEpisodeStore, storeProviderOf, type StoreProvider, withoutPassword } from "@mrlm/store";
import { flagOf } from "../declarations/flag-groups.ts";
import type { PlayOptions } from "../declarations/play.ts";
import { serverCredentials } from "./client-access.ts";
import { engineAddresses, hostOf, reachable } from "./reachable-engines.ts";
import { findStoreToken } from "./store-token.ts";

/** A run for which this process plays: in its directory, through a store server, or by its database. */
export interface PlayedRun {
  /** Directory of the run, address of the server, or URL of the database. */
  readonly name: string;
  readonly loaded: LoadedConfig;
  /** Directory of the run, where this machine has it. */
  readonly directory?: RunDirectory;
  /** File of the configuration. */
  readonly configPath: string;
  /** Returns the state of the run; `undefined` where the server does not answer. */
  find(): Promise<RunStatus | undefined>;
  openStore(): Promise<EpisodeStore>;
  close(): Promise<void>;
}

/** Longest wait for a store at the start, in milliseconds. */
const START_MS = 10_000;
/** Longest wait for a later answer about the training process, in milliseconds. */
const ANSWER_MS = 2_000;
/** Time for the last calls of a stopped worker, in milliseconds. */
const LEAVE_MS = 3_000;
/** Keys that may differ between the machines of a run: they change nothing of what is played. */
const OWN_KEYS = /^(server(\.|=)|base_directory=)/;

/**
 * Opens the run that the options name. Rejects with USAGE for options that contradict each other, RUN_NOT_FOUND, and as `connectStore` does.
 * @param stop aborted when the worker ends: calls to a lost server then end soon
 */
export async function openPlayedRun(
  options: PlayOptions,
  stop: AbortSignal,
  notice: (text: string) => void,
): Promise<PlayedRun> {
  const { run, store, set = [] } = options;
  if ((run === undefined) === (store === undefined))
    throw new MrlmError("USAGE", "Name the run by its directory (--run) or by the address of its store (--store).");
  const foreign = set.find((each) => !OWN_KEYS.test(each));
  if (foreign !== undefined)
    throw new MrlmError(
      "USAGE",
      `--set ${foreign}: the run decides what is played; set server.* or base_directory here.`,
    );
  if (store !== undefined && isPostgres(store)) return await runOfDatabase({ ...options, store }, stop);
  if (store !== undefined) return await runOfServer({ ...options, store }, stop, notice);
  for (const name of [...SERVER_OPTIONS, "engine"] as const) refuseOption(options, name, "is for a --store");
  return runOfDirectory(RunDirectory.open(run as string), set);
}

/** Options of a store server alone. */
const SERVER_OPTIONS = ["tokenFile", "tls", "tlsCa", "tlsCert", "tlsKey", "tlsServerName"] as const;

function refuseOption(options: PlayOptions, name: (typeof SERVER_OPTIONS)[number] | "engine", reason: string): void {
  if (options[name] !== undefined) throw new MrlmError("USAGE", `${flagOf(name)} ${reason}.`);
}

function runOfDirectory(run: RunDirectory, set: readonly string[]): PlayedRun {
  return {
    name: run.path,
    directory: run,
    loaded: loadConfig(run.configPath, { overrides: set }),
    configPath: run.configPath,
    find: async () => statusOfRun(run),
    openStore() {
      const id = idOfRun(run);
      const about = { ...run.store, purpose: "train", endsLeases: false } as const;
      return openEpisodeStore({ ...about, ...defined({ run: id }) });
    },
    close: async () => undefined,
  };
}

async function runOfServer(
  options: PlayOptions & { readonly store: string },
  stop: AbortSignal,
  notice: (text: string) => void,
): Promise<PlayedRun> {
  const { store: address } = options;
  const end = new AbortController();
  const onStop = (): void => void setTimeout(() => end.abort(), LEAVE_MS).unref();
  if (stop.aborted) onStop();
  stop.addEventListener("abort", onStop);
  const { tokenFile = findStoreToken(address) } = options;
  const access = { ...credentials({ ...options, tokenFile }), signal: end.signal };
  let isLost = false;
  const onLost = (): void => {
    if (isLost || stop.aborted) return;
    isLost = true;
    notice(`the store server at ${address} was lost: waiting for it`);
  };
  const server = await connectStore(address, { ...access, onLost }).catch((error: unknown) => {
    if (tokenFile !== undefined || !MrlmError.hasCode(error, "UNAUTHENTICATED")) throw error;
    throw new MrlmError("UNAUTHENTICATED", error.message, {
      hint: "`mrlm store serve` prints the file of its token, which its user can read: give a copy of it by --token-file.",
      cause: error,
    });
  });
  return await runElsewhere(options, {
    host: hostOf(address),
    name: address,
    async describe(waitMs) {
      const described = await server.describe(waitMs);
      if (described.config === "")
        throw new MrlmError("USAGE", `The server at ${address} serves a store without a run.`, {
          hint: "Start it with the run's directory: mrlm store serve --run RUN.",
        });
      if (isLost) notice(`the store server at ${address} answers again`);
      isLost = false;
      return described;
    },
    openStore: () => connectStore(address, access),
    async close() {
      stop.removeEventListener("abort", onStop);
      await server.close();
    },
  });
}

/** A run by its database, in which its training process announces itself. */
async function runOfDatabase(options: PlayOptions & { readonly store: string }, stop: AbortSignal): Promise<PlayedRun> {
  const place = storePlaceOf(options.store);
  const { path } = place;
  for (const name of SERVER_OPTIONS)
    refuseOption(options, name, "is for a store server; the URL of a database has its access");
  const description = (storeProviderOf(place) as StoreProvider).describe(path);
  return await runElsewhere(options, {
    host: new URL(path).hostname,
    name: withoutPassword(path),
    async describe(waitMs = START_MS) {
      const { training, ...state } = await description.read({ waitMs, stop });
      if (training === undefined) return state;
      const { since, engines } = training;
      return { ...state, training: { ...(engines as unknown as EnginePlaces), since } };
    },
    openStore: () => openEpisodeStore({ ...place, purpose: "train", endsLeases: false }),
    close: () => description.close(),
  });
}

/** Place of a run for a machine without its directory. */
interface RunElsewhere {
  /** Host of the store. */
  readonly host: string;
  readonly name: string;
  describe(waitMs?: number): Promise<RunStatus & { readonly config: string }>;
  openStore(): Promise<EpisodeStore>;
  close(): Promise<void>;
}

async function runElsewhere({ engine = [], set = [] }: PlayOptions, source: RunElsewhere): Promise<PlayedRun> {
  const folder = temporaryFolder("play");
  const close = async (): Promise<void> => {
    folder.remove();
    await source.close();
  };
  try {
    const { config } = await source.describe();
    const configPath = join(folder.path, "config.yaml");
    writeFileSync(configPath, config, { mode: 0o600 });
    const loaded = loadConfig(configPath, { overrides: set });
    const reached = engineAddresses(engine, loaded.config);
    return {
      name: source.name,
      loaded,
      configPath,
      async find() {
        try {
          const { training, ...state } = await source.describe(ANSWER_MS);
          return training === undefined ? state : { ...state, training: reachable(training, source.host, reached) };
        } catch (error) {
          if (MrlmError.hasCode(error, "STORE_UNAVAILABLE")) return undefined;
          throw error;
        }
      },
      openStore: () => source.openStore(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Credentials = { readonly [Name in (typeof SERVER_OPTIONS)[number]]?: PlayOptions[Name] | undefined };

function credentials({ tokenFile, tls, tlsCa, tlsCert, tlsKey, tlsServerName }: Credentials) {
  const files: ClientFiles = {
    ...defined({ ca: tlsCa, cert: tlsCert, key: tlsKey }),
  };
  const hasTls = tls === true || tlsServerName !== undefined || Object.keys(files).length > 0;
  return serverCredentials({
    ...defined({ token_file: tokenFile }),
    ...(hasTls ? { tls: { ...files, ...defined({ server_name: tlsServerName }) } } : {}),
  });
}

import type { LoadedConfig, ResolvedPart } from "@mrlm/runtime";
import { defined, MrlmError } from "@mrlm/spec";
import type { PartKind, RunPart } from "@mrlm/spec/host";

/** Run whose parts are started. */
export interface LaunchedRun {
  readonly loaded: LoadedConfig;
  /** File of the configuration. */
  readonly configPath: string;
  /** `--set KEY=VALUE` flags, which replace keys of the file. */
  readonly overrides: readonly string[];
  /** Program of `mrlm` with its first arguments. */
  readonly mrlm: readonly [string, ...string[]];
}

/** Process of a part, before it has a place. */
export interface PlannedPart {
  readonly part: RunPart;
  /** Times that a process of this part is started again after a fault. */
  readonly restarts: number;
  /** `host:port` that answers when the process is ready, if it is one of a server that training needs. */
  readonly address?: string;
}

/** Kinds that the training process needs before it begins. They know no run directory. */
const FIRST: ReadonlySet<PartKind> = new Set(["engine", "environments"]);

type Commands = (run: LaunchedRun, directory: string, address: string) => readonly string[] | undefined;

/** Command of `mrlm` of each kind, with its flags. An engine has none. */
const COMMANDS: Readonly<Record<PartKind, Commands>> = {
  engine: () => undefined,
  environments: serve,
  rollouts: (_, run) => ["play", "--run", run],
  sampler: (_, run) => ["sample", "--run", run],
  store: (_, run) => ["store", "serve", "--run", run],
};

/** Plans the processes that start before the training process. */
export function firstParts(run: LaunchedRun): PlannedPart[] {
  return planned(run, "", (kind) => FIRST.has(kind));
}

/** Plans the processes that start when the run has a directory. */
export function laterParts(run: LaunchedRun, directory: string): PlannedPart[] {
  return planned(run, directory, (kind) => !FIRST.has(kind));
}

function planned(run: LaunchedRun, directory: string, isChosen: (kind: PartKind) => boolean): PlannedPart[] {
  const { config } = run.loaded;
  return (config.parts ?? []).flatMap((part, index): PlannedPart[] => {
    if (!isChosen(part.kind)) return [];
    const { kind, restarts } = part;
    const refuse = (text: string): never => {
      throw new MrlmError("CONFIG_INVALID", `${run.loaded.source.locate(["parts", index])}: ${text}`);
    };
    if (kind !== "environments" || part.command !== undefined)
      return [{ part: partOf(run, part, { directory, address: "", refuse }), restarts }];
    const addresses = serverAddresses(config.server.address, refuse);
    const { count = addresses.length } = part;
    if (count !== addresses.length)
      refuse(
        `${count} environment servers need ${count} addresses under server.address, which has ${addresses.length}.`,
      );
    return addresses.map((address) => ({
      part: { ...partOf(run, part, { directory, address, refuse }), count: 1 },
      restarts,
      address,
    }));
  });
}

function partOf(
  run: LaunchedRun,
  part: ResolvedPart,
  place: { readonly directory: string; readonly address: string; refuse(text: string): never },
): RunPart {
  const { kind, count = 1, args, cpus, gpus, memory_mb: memory, env } = part;
  const own = part.command?.map((word) => word.replaceAll("{run}", place.directory));
  const flags = own === undefined ? COMMANDS[kind](run, place.directory, place.address) : [];
  if (flags === undefined) return place.refuse(`a part of kind ${kind} needs a \`command\`.`);
  return {
    kind,
    count,
    command: [...(own ?? run.mrlm), ...flags, ...args] as [string, ...string[]],
    ...defined({ cpus, gpus }),
    ...(memory === undefined ? {} : { memory: Math.ceil(memory * 1024 ** 2) }),
    env,
  };
}

/** Returns the flags of an environment server at an address of the configuration. */
function serve({ loaded: { config }, configPath, overrides }: LaunchedRun, _: string, address: string): string[] {
  const end = address.lastIndexOf(":");
  const { token_file: token } = config.server;
  return [
    "serve",
    ...["--config", configPath],
    ...overrides.flatMap((each) => ["--set", each]),
    ...["--host", address.slice(0, end).replace(/^\[(.*)\]$/, "$1"), "--port", address.slice(end + 1)],
    ...["--demonstrations", "--data-root", config.base_directory],
    ...(token === undefined ? [] : ["--token-file", token, "--any-data"]),
  ];
}

function serverAddresses(given: string | readonly string[] | undefined, refuse: (text: string) => never): string[] {
  const addresses = given === undefined ? [] : [given].flat();
  if (addresses.length === 0)
    return refuse("environment servers need `server.address`: HOST:PORT of each, for example 127.0.0.1:50061.");
  const name = addresses.find((each) => each.startsWith("dns:"));
  return name === undefined ? addresses : refuse(`a server cannot be started at ${name}: give HOST:PORT of each.`);
}

import { Command, Option } from "@commander-js/extra-typings";
import { declareAccessFlags, MODEL_FORMS, type OptionsOf, SET_FLAG, addFlags } from "./flag-groups.ts";
import { parseNames, parsePort, parseRealNumber, parseWholeNumber, readPort, readWholeNumber } from "./parsers.ts";

const MAX_WORKERS = 256;
/** A worker with the packages of this project takes about this much memory, in MiB. */
const LEAST_MEMORY_MB = 128;

export function declareServe() {
  const serve = new Command("serve")
    .description(
      "host environments as a gRPC server, and for clients of other protocols over HTTP; or a policy behind the API of OpenAI",
    )
    .option("--model <model>", `serve this policy: ${MODEL_FORMS}`)
    .option("--policy <name>", "one of several policies that the run of --model trains; default: all")
    .option(
      "--environments <names>",
      "comma-separated, for example math,code; default: all that are installed but openenv, ors, python-env and cases, which connect to hosts or run code that clients name",
      parseNames,
    )
    .option(
      "--engine <address>",
      "serve the policies of this live engine, HOST:PORT; a run that trains with it continues",
    )
    .option("--engine-token-file <path>", "file with the token of that engine")
    .option("--port <port>", "0 for any free one; default: 50051, for a policy 8000", parsePort())
    .option("--config <path>", "configuration whose plugins and their options are used")
    .option(...SET_FLAG);
  const access = {
    token: "file with a token that every call must carry, health checks excepted; or NAME TOKEN in each line",
    clients: "clients",
    lack: "a token or without TLS",
  };
  return addFlags(serve, declareAccessFlags(access))
    .option("--data-root <folder>", "options of clients may name files below it; default: the working directory")
    .option(
      "--any-data",
      "options may name any file that you can read, --data-root or not; needs --token-file (for a parent process)",
    )
    .option(
      "--demonstrations",
      "give clients the worked solutions of training tasks, for SFT; their options decide which tasks these are",
    )
    .option(
      "--unsafe-sandbox",
      "serve other machines even where no operating-system jail isolates the code that a model wrote",
    )
    .option(
      "--max-sessions <n>",
      "open sessions at a time, in all and of environments: 4096, or math=200,code=50; default: 4096 in all",
      collectPlaces,
    )
    .option(
      "--max-sessions-per-client <n>",
      "open sessions of one client at a time; default: half of all",
      parseWholeNumber(1),
    )
    .option("--max-queue <n>", "resets that may wait for a free place; default: 1024", parseWholeNumber())
    .option("--queue-seconds <seconds>", "longest wait of a reset; default: 30", parseRealNumber())
    .option(
      "--lease-seconds <seconds>",
      "close sessions without a request for this long; default: 60",
      parseRealNumber(),
    )
    .option(
      "--drain-seconds <seconds>",
      "time for the open sessions when the server stops; default: 10",
      parseRealNumber(),
    )
    .option(
      "--workers <number>",
      "host the environments in this many supervised processes, 0 for the server process; default: 1 for a server started by hand that offers a plugin from outside @mrlm/, else 0",
      parseWholeNumber(0, {
        most: MAX_WORKERS,
        range: `from 0 to ${MAX_WORKERS}`,
        hint: "Give the number of processes that host environments, at most one for each core; 0 for the server process.",
      }),
    )
    .option(
      "--worker-memory-mb <number>",
      "end a worker that uses more memory than this; default: no limit",
      parseWholeNumber(LEAST_MEMORY_MB, {
        range: `from ${LEAST_MEMORY_MB} on`,
        hint: `A worker takes about ${LEAST_MEMORY_MB} MiB before it has a session.`,
      }),
    )
    .option(
      "--reload",
      "on SIGHUP, and when the package of a plugin changes, check the new version and give it all new sessions; needs --workers",
    )
    .option(
      "--metrics-port <port>",
      "serve metrics for Prometheus at http://HOST:PORT/metrics; 0 for any free port",
      parsePort(),
    )
    .option("--metrics-host <address>", "address of --metrics-port; default: 127.0.0.1")
    .addOption(
      new Option("--log <form>", "form of the log on stderr: lines for people, or a JSON object a line").choices([
        "text",
        "json",
      ]),
    )
    .option(
      "--http-port <port>",
      "offer the environments over HTTP too, by --dialects; 0 for any free port; ENVIRONMENT=PORT offers one alone, without its name in paths; may be given several times",
      collectHttpPorts,
    )
    .option(
      "--dialects <names>",
      "comma-separated protocols of --http-port: mcp (Model Context Protocol), openenv (OpenEnv), nemo-gym (NeMo Gym, verifiers), ors (Open Reward Standard), sandbox-fusion (programs by /run_code); default: all",
      parseNames,
    )
    .option("--reveal-rewards", "clients of mcp get the reward of each step; those of trainers' protocols always do")
    .addOption(
      new Option(
        "--nemo-gym-unscored <answer>",
        "answer of nemo-gym for an unscored episode: a masked sample, or an error for trainers that ignore the mask, such as verifiers; default: mask",
      ).choices(["mask", "error"]),
    )
    .option("--until-stdin-ends", "end when standard input ends (for a parent process)");
}
export type ServeOptions = OptionsOf<typeof declareServe>;

/** Places for sessions of `--max-sessions`: of all environments, or of one. */
export interface Places {
  readonly environment: string | undefined;
  readonly places: number;
}

/** Parses `4096`, `math=200,code=50` or both. */
function collectPlaces(text: string, before: readonly Places[] = []): readonly Places[] {
  const flag = "--max-sessions";
  const found = text.split(",").map((entry): Places => {
    const [name = "", ...rest] = entry.split("=").map((part) => part.trim());
    if (rest.length === 0) return { environment: undefined, places: readWholeNumber(name, flag, 1) };
    return { environment: name, places: readWholeNumber(rest.join("="), `${flag} ${name}=`, 1) };
  });
  return [...before, ...found];
}

/** Port of `--http-port`: of all environments, or of one. */
export interface HttpPort {
  readonly environment: string | undefined;
  readonly port: number;
}

/** Parses `PORT` or `ENVIRONMENT=PORT`. */
function collectHttpPorts(text: string, before: readonly HttpPort[] = []): readonly HttpPort[] {
  const at = text.lastIndexOf("=");
  const environment = at === -1 ? undefined : text.slice(0, at);
  return [...before, { environment, port: readPort(text.slice(at + 1), "--http-port") }];
}

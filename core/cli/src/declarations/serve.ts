import { type Command, Option } from "commander";
import type { CommandContext } from "../command-context.ts";
import type { ServeOptions } from "../commands/serve-options.ts";
import { repeated, setFlag } from "./flags.ts";

/** Declares `mrlm serve`. */
export function declareServe(program: Command, context: () => CommandContext): void {
  program
    .command("serve")
    .description(
      "host environments as a gRPC server, and for clients of other protocols over HTTP; or a policy behind the API of OpenAI",
    )
    .option("--model <directory>", "serve this policy: a Hugging Face directory, a run, or one of its checkpoints")
    .option("--policy <name>", "one of several policies that the run of --model trains; default: all")
    .option(
      "--environments <names>",
      "comma-separated, for example math,code; default: all that are installed but bridges (openenv, ors), which connect to hosts that clients name",
    )
    .option(
      "--engine <address>",
      "serve the policies of this live engine, HOST:PORT; a run that trains with it continues",
    )
    .option("--engine-token-file <path>", "file with the token of that engine")
    .option("--port <port>", "0 for any free one; default: 50051, for a policy 8000")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--config <path>", "configuration whose plugins and their options are used")
    .addOption(setFlag())
    .option(
      "--token-file <path>",
      "file with a token that every call must carry, health checks excepted; or NAME TOKEN in each line",
    )
    .option(
      "--token-grace-seconds <seconds>",
      "a token that is removed from --token-file stays valid for this time; default: 300",
    )
    .option(
      "--tls-cert <path>",
      "serve with TLS: certificate in PEM form, with those between it and its authority; read again when it changes",
    )
    .option("--tls-key <path>", "private key of --tls-cert")
    .option("--tls-client-ca <path>", "mutual TLS: clients must have a certificate of these authorities")
    .option("--insecure", "listen on a --host that other machines reach without a token or without TLS")
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
    .addOption(
      repeated(
        "--max-sessions <n>",
        "open sessions at a time, in all and of environments: 4096, or math=200,code=50; default: 4096 in all",
      ),
    )
    .option("--max-sessions-per-client <n>", "open sessions of one client at a time; default: half of all")
    .option("--max-queue <n>", "resets that may wait for a free place; default: 1024")
    .option("--queue-seconds <seconds>", "longest wait of a reset; default: 30")
    .option("--lease-seconds <seconds>", "close sessions without a request for this long; default: 60")
    .option("--drain-seconds <seconds>", "time for the open sessions when the server stops; default: 10")
    .option(
      "--workers <number>",
      "host the environments in this many supervised processes, 0 for the server process; default: 1 for a server started by hand that offers a plugin from outside @mrlm/, else 0",
    )
    .option("--worker-memory-mb <number>", "end a worker that uses more memory than this; default: no limit")
    .option(
      "--reload",
      "on SIGHUP, and when the package of a plugin changes, check the new version and give it all new sessions; needs --workers",
    )
    .option("--metrics-port <port>", "serve metrics for Prometheus at http://HOST:PORT/metrics; 0 for any free port")
    .option("--metrics-host <address>", "address of --metrics-port; default: 127.0.0.1")
    .addOption(
      new Option("--log <form>", "form of the log on stderr: lines for people, or a JSON object a line").choices([
        "text",
        "json",
      ]),
    )
    .addOption(
      repeated(
        "--http-port <port>",
        "offer the environments over HTTP too, by --dialects; 0 for any free port; ENVIRONMENT=PORT offers one alone, without its name in paths; may be given several times",
      ),
    )
    .option(
      "--dialects <names>",
      "comma-separated protocols of --http-port: mcp (Model Context Protocol), openenv (OpenEnv), nemo-gym (NeMo Gym, verifiers), ors (Open Reward Standard), sandbox-fusion (programs by /run_code); default: all",
    )
    .option("--reveal-rewards", "clients of mcp get the reward of each step; those of trainers' protocols always do")
    .addOption(
      new Option(
        "--nemo-gym-unscored <answer>",
        "answer of nemo-gym for an unscored episode: a masked sample, or an error for trainers that ignore the mask, such as verifiers; default: mask",
      ).choices(["mask", "error"]),
    )
    .option("--until-stdin-ends", "end when standard input ends (for a parent process)")
    .action(async (options: ServeOptions) => (await import("../commands/serve.ts")).serve(context(), options));
}

import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import type { LaunchArguments } from "../commands/launch.ts";
import type { PlayArguments } from "../commands/play.ts";
import type { SampleArguments } from "../commands/sample.ts";
import type { StoreServeArguments } from "../commands/store-serve.ts";
import { repeated, setFlag } from "./flags.ts";

/** Declares the processes that stand beside a training process, `mrlm play`, `mrlm sample` and `mrlm store serve`, and `mrlm launch`, which starts all of a run. */
export function declareWorkers(program: Command, context: () => CommandContext, finish: (code: number) => void): void {
  program
    .command("launch")
    .description(
      "train as a configuration specifies, and start the processes of its `parts` beside it by its `launcher`: rollout workers, samplers, environment servers, a store server",
    )
    .option("--config <path>", "YAML configuration")
    .addOption(setFlag())
    .option("--output <directory>", "where the run directory is made")
    .option("--seed <number>", "instead of the configuration's")
    .option("--resume <path>", "run directory, or one of its checkpoints, to continue")
    .option("--steps <n>", "with --resume: of the last stage, instead of the configuration's, to make a run longer")
    .action(async (args: LaunchArguments) =>
      finish(await (await import("../commands/launch.ts")).launch(context(), args)),
    );

  program
    .command("play")
    .description(
      "add a rollout worker to a run that another process trains: plays episodes of its batches until the run ends, and waits while the training process is restarted",
    )
    .option("--run <run>", "the run's directory")
    .option(
      "--store <address>",
      "instead of --run, where this machine does not see the directory: HOST:PORT of `mrlm store serve`, or the URL of the run's database, postgres://USER@HOST:PORT/DATABASE?run=ID, as `store` of its run.json has it",
    )
    .option(
      "--token-file <path>",
      "with --store: file with a token of that server; default: that of a server which this user runs at that address of this machine",
    )
    .option("--tls", "with --store: the server has TLS, and an authority that Node trusts has signed its certificate")
    .option("--tls-ca <path>", "with --store: the server has TLS, and these authorities have signed its certificate")
    .option("--tls-cert <path>", "with --store: certificate of this client, for a server with mutual TLS")
    .option("--tls-key <path>", "private key of --tls-cert")
    .option("--tls-server-name <name>", "with --store: name that the certificate has; default: the host of the address")
    .addOption(
      repeated(
        "--engine <address>",
        "with --store: HOST:PORT at which this machine reaches the engine, such as the end of a tunnel, or NAME=HOST:PORT for one of `engines`; default: the addresses that the training process uses",
      ),
    )
    .addOption(
      repeated(
        "--set <key=value>",
        "a key of the run's configuration that differs on this machine: base_directory or one of server.*; may be given several times",
      ),
    )
    .action(async (args: PlayArguments) => finish(await (await import("../commands/play.ts")).play(context(), args)));

  program
    .command("sample")
    .description(
      "add a sampler to a run that another process trains: a process that draws sequences with each published version of the weights, until the run ends",
    )
    .requiredOption("--run <run>", "the run's directory")
    .option("--device <device>", "auto, cpu or cuda; default: engine.device of the run")
    .option("--gpu <index>", "CUDA device; default: engine.gpu of the run")
    .option("--threads <n>", "CPU threads; default: those of the run's engine")
    .option("--name <name>", "unique in the run; default: made from the machine and the process")
    .option(
      "--host <address>",
      "address of this machine at which the processes of the run reach the sampler; default: 127.0.0.1, for those of this machine",
    )
    .option("--port <port>", "default: any free one")
    .option("--tls-cert <path>", "serve with TLS: certificate in PEM form; read again when it changes")
    .option("--tls-key <path>", "private key of --tls-cert")
    .option(
      "--tls-ca <path>",
      "authorities that have signed --tls-cert, for the processes of the run; default: those that Node trusts",
    )
    .option("--insecure", "listen on a --host that other machines reach without TLS")
    .addOption(
      repeated(
        "--engine <address>",
        "HOST:PORT at which this machine reaches the engine, such as the end of a tunnel, or NAME=HOST:PORT for one of `engines`; default: the addresses that the training process uses",
      ),
    )
    .option(
      "--plugin <name>",
      "sample by a server of another project, such as vllm, in place of an engine process; each version of the weights is proved by a probe",
    )
    .option("--url <url>", "with --plugin: address of the server")
    .option("--options <json>", "with --plugin: options of the plugin")
    .option(
      "--probe-limit <nats>",
      "with --plugin: largest difference of log-probabilities that a probe accepts; default: 0.0001, for a server in float32",
    )
    .action(async (args: SampleArguments) =>
      finish(await (await import("../commands/sample.ts")).sample(context(), args)),
    );

  program
    .command("store")
    .description("the episode store of a run")
    .command("serve")
    .description(
      "offer the store of a run to `mrlm play --store` on other machines, with the run's configuration and the address and token of its engine",
    )
    .requiredOption("--run <run>", "the run's directory, or an episode store")
    .option("--port <port>", "0 for any free one", "50052")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--token-file <path>",
      "file with a token that every call must carry, health checks excepted; or NAME TOKEN in each line; default: store.token in the run's directory, made if it is missing, which its owner alone can read",
    )
    .option(
      "--token-grace-seconds <seconds>",
      "a token that is removed from --token-file stays valid for this time; default: 300",
    )
    .option("--tls-cert <path>", "serve with TLS: certificate in PEM form; read again when it changes")
    .option("--tls-key <path>", "private key of --tls-cert")
    .option("--tls-client-ca <path>", "mutual TLS: clients must have a certificate of these authorities")
    .option("--insecure", "listen on a --host that other machines reach without TLS")
    .action(async (args: StoreServeArguments) =>
      (await import("../commands/store-serve.ts")).serveStore(context(), args),
    );
}

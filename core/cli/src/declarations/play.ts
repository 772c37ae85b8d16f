import { Command } from "@commander-js/extra-typings";
import { ENGINE_ADDRESS, KEY_FLAG, type OptionsOf } from "./flag-groups.ts";
import { collectTexts } from "./parsers.ts";

export function declarePlay() {
  return new Command("play")
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
    .option(...KEY_FLAG)
    .option("--tls-server-name <name>", "with --store: name that the certificate has; default: the host of the address")
    .option("--engine <address>", `with --store: ${ENGINE_ADDRESS}`, collectTexts)
    .option(
      "--set <key=value>",
      "a key of the run's configuration that differs on this machine: base_directory or one of server.*; may be given several times",
      collectTexts,
    );
}
export type PlayOptions = OptionsOf<typeof declarePlay>;

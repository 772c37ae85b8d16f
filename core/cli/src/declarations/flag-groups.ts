import { Command, type OptionValues } from "@commander-js/extra-typings";
import { collectTexts, parseJson, parseRealNumber, parseWholeNumber } from "./parsers.ts";

/** Values of the flags of a command, or of a group of flags, by the function that declares it. */
export type OptionsOf<Declare extends (...given: never[]) => { opts(): OptionValues }> = Readonly<
  ReturnType<ReturnType<Declare>["opts"]>
>;

/** Returns the flag of an option: `tokenFile` is `--token-file`. */
export function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, "-$&").toLowerCase()}`;
}

/** Adds a group of flags to a command. The group is a command without a name. */
export function addFlags<Args extends unknown[], Own extends OptionValues, Added extends OptionValues>(
  command: Command<Args, Own>,
  group: Command<[], Added>,
): Command<Args, Own & Added> {
  for (const option of group.options) command.addOption(option);
  return command as unknown as Command<Args, Own & Added>;
}

export const SET_FLAG = [
  "--set <key=value>",
  "a key of the configuration, for example stages.1.learning_rate=1e-4, with its value in YAML; may be given several times",
  collectTexts,
] as const;
/** Forms of a model in `--model`. */
export const MODEL_FORMS =
  "Hugging Face directory; hub:ORG/NAME or hub:ORG/NAME@REVISION; a .gguf file; an adapter of peft; a run, finished or not; one of its checkpoints";
export const POLICY_FLAG = ["--policy <name>", "one of several policies that the run of --model trains"] as const;
export const ENVIRONMENT_FLAG = ["--environment <id>", "for example math"] as const;
export const OPTIONS_FLAG = [
  "--options <json>",
  "options of the environment; default: those that --config has for it",
  parseJson(),
] as const;

export const CERTIFICATE_FLAG = [
  "--tls-cert <path>",
  "serve with TLS: certificate in PEM form, with those between it and its authority; read again when it changes",
] as const;
export const KEY_FLAG = ["--tls-key <path>", "private key of --tls-cert"] as const;
export const ENGINE_ADDRESS =
  "HOST:PORT at which this machine reaches the engine, such as the end of a tunnel, or NAME=HOST:PORT for one of `engines`; default: the addresses that the training process uses";

/** Declares the flags of the commands that train. */
export function declareTrainingFlags() {
  return new Command()
    .option("--config <path>", "YAML configuration")
    .option(...SET_FLAG)
    .option("--output <directory>", "where the run directory is made")
    .option("--seed <number>", "instead of the configuration's", parseWholeNumber())
    .option("--resume <path>", "run directory, or one of its checkpoints, to continue")
    .option(
      "--steps <n>",
      "with --resume: of the last stage, instead of the configuration's, to make a run longer",
      parseWholeNumber(1),
    );
}

/** Declares the flags of the commands that play episodes with a finished model (services/rollout-session.ts). */
export function declareRolloutFlags() {
  return new Command()
    .option(...POLICY_FLAG)
    .option(
      "--base-url <url>",
      "address of the API of openai:NAME; default: OPENAI_BASE_URL, else that of OpenAI. The key is in OPENAI_API_KEY",
    )
    .option(
      "--model-options <json>",
      "options of openai:NAME: temperature, concurrency, cache, ...; the README of @mrlm/policy-openai has all",
      parseJson(),
    )
    .option(...OPTIONS_FLAG)
    .option(
      "--player <role=player>",
      "player of a role, in YAML as under `players` of a configuration, for example 'second={scripted: optimal}'; may be given several times. The model plays the other roles",
      collectTexts,
    )
    .option(...SET_FLAG)
    .option("--temperature <t>", "of sampled episodes; default: the configuration's, else 1", parseRealNumber())
    .option("--max-tokens <n>", "of one turn; default: the configuration's, else 256", parseWholeNumber(1))
    .option("--seed <n>", "of everything random; default: the configuration's, else 0", parseWholeNumber());
}
export type RolloutOptions = OptionsOf<typeof declareRolloutFlags> & {
  readonly model: string;
  readonly environment: string;
  readonly split: string;
  readonly config?: string | undefined;
};

/** `--model` of the commands that play episodes. */
export const PLAYED_MODEL = `${MODEL_FORMS}; or openai:NAME, a model behind an OpenAI-compatible API`;

/**
 * Declares the flags that state where a server listens and who may connect.
 * @param texts.token what the file of the token is for
 * @param texts.clients name of the clients
 * @param texts.lack what a server that other machines reach may lack with `--insecure`
 */
export function declareAccessFlags(texts: { readonly token: string; readonly clients: string; readonly lack: string }) {
  return new Command()
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--token-file <path>", texts.token)
    .option(
      "--token-grace-seconds <seconds>",
      "a token that is removed from --token-file stays valid for this time; default: 300",
      parseWholeNumber(),
    )
    .option(...CERTIFICATE_FLAG)
    .option(...KEY_FLAG)
    .option("--tls-client-ca <path>", `mutual TLS: ${texts.clients} must have a certificate of these authorities`)
    .option("--insecure", `listen on a --host that other machines reach without ${texts.lack}`);
}
export type AccessOptions = OptionsOf<typeof declareAccessFlags>;

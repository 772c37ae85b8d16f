import { Command } from "@commander-js/extra-typings";
import { MrlmError } from "@mrlm/spec";
import { CERTIFICATE_FLAG, ENGINE_ADDRESS, KEY_FLAG, type OptionsOf } from "./flag-groups.ts";
import { collectTexts, parseJson, parsePort, parseRealNumber, parseWholeNumber } from "./parsers.ts";

export function declareSample() {
  return new Command("sample")
    .description(
      "add a sampler to a run that another process trains: a process that draws sequences with each published version of the weights, until the run ends",
    )
    .requiredOption("--run <run>", "the run's directory")
    .option("--device <device>", "auto, cpu or cuda; default: engine.device of the run", parseDevice)
    .option("--gpu <index>", "CUDA device; default: engine.gpu of the run", parseWholeNumber())
    .option("--threads <n>", "CPU threads; default: those of the run's engine", parseWholeNumber(1))
    .option("--name <name>", "unique in the run; default: made from the machine and the process", parseName)
    .option(
      "--host <address>",
      "address of this machine at which the processes of the run reach the sampler; default: 127.0.0.1, for those of this machine",
    )
    .option("--port <port>", "default: any free one", parsePort())
    .option(...CERTIFICATE_FLAG)
    .option(...KEY_FLAG)
    .option(
      "--tls-ca <path>",
      "authorities that have signed --tls-cert, for the processes of the run; default: those that Node trusts",
    )
    .option("--insecure", "listen on a --host that other machines reach without TLS")
    .option("--engine <address>", ENGINE_ADDRESS, collectTexts)
    .option(
      "--plugin <name>",
      "sample by a server of another project, such as vllm, in place of an engine process; each version of the weights is proved by a probe",
    )
    .option("--url <url>", "with --plugin: address of the server")
    .option("--options <json>", "with --plugin: options of the plugin", parseJson())
    .option(
      "--probe-limit <nats>",
      "with --plugin: largest difference of log-probabilities that a probe accepts; default: 0.0001, for a server in float32",
      parseRealNumber(),
    );
}
export type SampleOptions = OptionsOf<typeof declareSample>;

const DEVICES = ["auto", "cpu", "cuda"] as const;

function parseDevice(text: string): (typeof DEVICES)[number] {
  const device = DEVICES.find((each) => each === text);
  if (device !== undefined) return device;
  throw new MrlmError("USAGE", `--device is ${text}, and not one of ${DEVICES.join(", ")}.`);
}

function parseName(text: string): string {
  if (/^[\w.-]+$/.test(text)) return text;
  throw new MrlmError("USAGE", `--name ${text}: letters, digits, dots, hyphens and underscores only.`);
}

import { Option } from "commander";

/** The flag that sets a key of a configuration; it may be given several times. */
export function setFlag(): Option {
  const what =
    "a key of the configuration, for example stages.1.learning_rate=1e-4, with its value in YAML; may be given several times";
  return new Option("--set <key=value>", what).argParser((value: string, before: readonly string[] = []) => [
    ...before,
    value,
  ]);
}

import { MrlmError } from "@mrlm/spec";

/** Exit codes of `mrlm`; documented in docs/reference/cli.md. */
export const EXIT = {
  ok: 0,
  /** Something failed during the work. */
  failure: 1,
  /** The command line, a configuration, or a file that they name was wrong: no work began. */
  invalid: 2,
  /** The engine is not set up, or did not start. */
  engine: 3,
  /** `doctor` found a problem, `check` a defect. */
  unhealthy: 4,
  /** Ended by Ctrl-C or SIGTERM, after draining or not. */
  interrupted: 130,
} as const;

const INVALID = new Set<string>([
  "USAGE",
  "CONFIG_INVALID",
  "CONFIG_NOT_FOUND",
  "OPTIONS_INVALID",
  "DATA_INVALID",
  "CASES_UNFIT",
  "ENVIRONMENT_NOT_FOUND",
  "PLUGIN_NOT_FOUND",
  "PLUGIN_INVALID",
  "PLUGIN_API_VERSION",
  "PLUGIN_CONFLICT",
  "PLUGIN_LOAD_FAILED",
  "REQUIREMENT_MISSING",
  "PORT_IN_USE",
  "OUTPUT_INVALID",
  "TRACKER_UNAVAILABLE",
  "LAUNCHER_UNAVAILABLE",
  "MODEL_DIRECTORY_MISSING",
  "MODEL_DIRECTORY_INVALID",
  "TOKENIZER_INVALID",
  "TOOLS_UNSUPPORTED",
  "CHECKPOINT_INCOMPLETE",
  "SANDBOX_UNSAFE",
  "ADDRESS_INSECURE",
  "TLS_FAILED",
  "CHECKPOINT_MISMATCH",
  "UNAUTHENTICATED",
  "RUN_IN_USE",
  "RUN_NOT_FOUND",
  "EPISODE_NOT_FOUND",
  "TASK_NOT_FOUND",
  "MEMORY_INSUFFICIENT",
  "JOIN_REFUSED",
  "QUERY_INVALID",
  "STORE_INVALID",
]);
const ENGINE = new Set<string>([
  "ENGINE_NOT_SET_UP",
  "ENGINE_START_FAILED",
  "PYTHON_NOT_FOUND",
  "PYTHON_VERSION",
  "SETUP_FAILED",
  "SETUP_DOWNLOAD_FAILED",
  "LORA_UNAVAILABLE",
  "JOIN_TIMEOUT",
]);

export function exitCodeOf(error: unknown): number {
  if (!MrlmError.isInstance(error)) return EXIT.failure;
  if (INVALID.has(error.code)) return EXIT.invalid;
  return ENGINE.has(error.code) ? EXIT.engine : EXIT.failure;
}

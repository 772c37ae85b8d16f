import { constants } from "node:os";
import type { WorkspaceLimits } from "@mrlm/spec";

const MEGABYTE = 2 ** 20;

/** Default limits of a workspace. */
export const DEFAULT_LIMITS: WorkspaceLimits = {
  timeoutMs: 120_000,
  cpuMs: 120_000,
  memoryBytes: 2048 * MEGABYTE,
  processes: 256,
  fileBytes: 256 * MEGABYTE,
  diskBytes: 512 * MEGABYTE,
  outputBytes: 256 * 1024,
};

/** Environment of the commands of a workspace. */
export const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  USER: "root",
  LANG: "C.UTF-8",
  TERM: "dumb",
  PAGER: "cat",
  PS1: "",
  HISTFILE: "",
};

/** Command that becomes an interactive shell. */
export const INTERACTIVE =
  "if [ -x /bin/bash ] || [ -x /usr/bin/bash ]; then exec bash --norc --noprofile --noediting -i; else exec sh -i; fi";

const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));
/** A shell reports a signal as this and the number of the signal. */
const SIGNAL_BASE = 128;

/** Returns the signal that ended a command, from the exit code of its shell. */
export function signalOf(code: number | null): string | undefined {
  return code === null ? undefined : SIGNALS.get(code - SIGNAL_BASE);
}

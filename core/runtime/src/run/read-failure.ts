import { fileFault, MrlmError } from "@mrlm/spec";

/** Reads files of a run. Throws DATA_INVALID with the reason for errors of the operating system. */
export function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (typeof (cause as NodeJS.ErrnoException).errno !== "number") throw cause;
    throw new MrlmError("DATA_INVALID", `${path} of the run cannot be read: ${fileFault(cause)}.`, {
      hint: "Restore it from a copy of the run.",
      cause,
    });
  }
}

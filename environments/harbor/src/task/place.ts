import { fileFault, MrlmError } from "@mrlm/spec";

/** Creates the error of a task that cannot be used. @param place file and line: `task.toml:12` */
export function invalidTask(place: string, what: string, hint?: string): MrlmError {
  return new MrlmError("DATA_INVALID", `${place}: ${what}.`, hint === undefined ? {} : { hint });
}

/** Whether a file or a folder above it is not there. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** Creates the error of a file that is missing or cannot be read. */
export function unreadable(path: string, error: unknown, hint: string): MrlmError {
  return isMissing(error)
    ? invalidTask(path, "the file is missing", hint)
    : invalidTask(path, `the file cannot be read: ${fileFault(error)}`);
}

/** Creates the error of a part of the format that workspaces of this machine do not have. */
export function needsDocker(place: string, what: string): MrlmError {
  return invalidTask(
    place,
    `${what}, which a workspace of this machine does not have`,
    "Build the image by Docker or Podman and state it as `docker_image` of [environment], or state the same without this part.",
  );
}

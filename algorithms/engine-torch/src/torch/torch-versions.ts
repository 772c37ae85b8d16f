import type { RunPip } from "../pip/pip.ts";
import { isUnreachable } from "../pip/pip-failure.ts";

/** What an index answered. */
export interface TorchOffer {
  /** Versions with a wheel for the asking Python, for example `2.13.0+cpu`. */
  readonly versions: readonly string[];
  /** pip's words when no index could be reached. */
  readonly unreachable?: string;
}

/** Asks which versions of torch a Python could install, without downloading any. */
export type AskTorchVersions = (python: string, index?: string) => Promise<TorchOffer>;

/** Asks through `pip index versions`, hence with the user's pip configuration; or only the index given. */
export function askTorchVersions(pip: RunPip): AskTorchVersions {
  return async (python, index) => {
    // A named index is a second choice: one quick attempt, so that a machine without a way there is not held up.
    const where = index === undefined ? [] : ["--index-url", index, "--retries", "0", "--timeout", "15"];
    const result = await pip(python, ["index", "versions", "torch", "--json", "--only-binary", ":all:", ...where]);
    const answer = result.stdout.split("\n").find((line) => line.startsWith("{"));
    if (answer !== undefined) return { versions: (JSON.parse(answer) as { versions: string[] }).versions };
    return { versions: [], ...(isUnreachable(result.stderr) && { unreachable: result.stderr }) };
  };
}

import { isUnreachable, type RunPip } from "@mrlm/process/python";

/** Answer of an index. */
export interface TorchOffer {
  /** Versions with a wheel for this Python, for example `2.13.0+cpu`. */
  readonly versions: readonly string[];
  /** Output of pip if no index could be reached. */
  readonly unreachable?: string;
}

/** Lists the versions of torch that a Python could install, without a download. */
export type AskTorchVersions = (python: string, index?: string) => Promise<TorchOffer>;

/** Lists versions by `pip index versions`, with the user's pip configuration or only the given index. */
export function askTorchVersions(pip: RunPip): AskTorchVersions {
  return async (python, index) => {
    // A named index is optional. One short attempt avoids a delay on a machine that cannot reach it.
    const where = index === undefined ? [] : ["--index-url", index, "--retries", "0", "--timeout", "15"];
    const result = await pip(python, ["index", "versions", "torch", "--json", "--only-binary", ":all:", ...where]);
    const answer = result.stdout.split("\n").find((line) => line.startsWith("{"));
    if (answer !== undefined) return { versions: (JSON.parse(answer) as { versions: string[] }).versions };
    return { versions: [], ...(isUnreachable(result.stderr) && { unreachable: result.stderr }) };
  };
}

import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";

/**
 * Returns the version of the Node that runs the commands of a new project: the first one on the path outside of the packages of other projects, which npm
 * puts first; that of this process if there is none.
 */
export function systemNodeVersion(): string {
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !/node_modules[\\/]/.test(folder));
  const { stdout = "" } = spawnSync("node", ["--version"], {
    encoding: "utf8",
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  return /^v(\d+\.\d+\.\d+)/.exec(stdout ?? "")?.[1] ?? process.versions.node;
}

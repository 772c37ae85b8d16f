import { spawn } from "node:child_process";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { root } from "./repository.mjs";
import { ScriptError } from "./script.mjs";

const binaries = join(root, "node_modules", ".bin");

/** The project's own Node (a devDependency), which runs everything once dependencies are installed. */
export const projectNode = join(
  root,
  "node_modules",
  "node",
  "bin",
  process.platform === "win32" ? "node.exe" : "node",
);

/** @type {Record<string, 'inherit' | 'pipe' | 'ignore'>} */
const stdio = { show: "inherit", capture: "pipe", discard: "ignore" };

/**
 * Runs a command with the project's binaries first on PATH, and waits for its end also when a signal arrives.
 * A terminal sends Ctrl-C to the command as well; all other signals are passed on, so that the command gets each once.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, stdout?: "show" | "capture" | "discard", isInstalling?: boolean }} [options]
 *   isInstalling: on the machine's own Node, since the project's is about to be replaced
 * @returns {Promise<{ exitCode: number, stdout: string }>} stdout: what was captured
 */
export function attempt(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: { ...process.env, PATH: searchPath(options.isInstalling) },
      stdio: ["inherit", stdio[options.stdout ?? "show"], "inherit"],
      shell: process.platform === "win32" && !command.endsWith(".exe"),
    });
    let stdout = "";
    child.stdout?.on("data", (chunk) => (stdout += chunk));
    /** @param {NodeJS.Signals} signal */
    const passOn = (signal) => {
      if (signal !== "SIGINT" || !isInTerminal()) child.kill(signal);
    };
    process.on("SIGINT", passOn).on("SIGTERM", passOn);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.off("SIGINT", passOn).off("SIGTERM", passOn);
      resolve({ exitCode: code ?? 128 + (signal ? constants.signals[signal] : 0), stdout });
    });
  });
}

/** npm has put the project's binaries on PATH already where it started this script. */
function searchPath(isInstalling = false) {
  const others = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== binaries);
  return (isInstalling ? others : [binaries, ...others]).join(delimiter);
}

function isInTerminal() {
  return [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
}

/**
 * As {@link attempt}, but a nonzero exit throws.
 * @param {string} command @param {string[]} args @param {Parameters<typeof attempt>[2]} [options]
 */
export async function run(command, args, options) {
  const result = await attempt(command, args, options);
  if (result.exitCode !== 0) {
    throw new ScriptError(`${[command, ...args].join(" ")} ended with exit code ${result.exitCode}`, result.exitCode);
  }
  return result;
}

/**
 * Runs a script or module with the project's Node.
 * @param {string[]} args @param {Parameters<typeof attempt>[2]} [options]
 */
export function runNode(args, options) {
  return run(projectNode, args, options);
}

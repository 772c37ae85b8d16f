import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, dirname } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** End of a program. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns the environment of a user outside of the repository: this Node, without what npm or jest set here. */
export function userEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_OPTIONS$|NODE_ENV$|JEST_|INIT_CWD$|CI$)/i.test(name) || /^npm_config_cafile$/i.test(name),
  );
  const others = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.startsWith(ROOT));
  return { ...Object.fromEntries(kept), PATH: [dirname(process.execPath), ...others].join(delimiter), ...more };
}

/** Runs a program to its end. */
export async function attempt(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await once(child, "close")) as [number | null];
  const [stdout, stderr] = await output;
  return { code, stdout, stderr };
}

/** Runs a program that must succeed, and returns its stdout. */
export async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { code, stdout, stderr } = await attempt(program, args, cwd, env);
  if (code !== 0)
    throw new Error(`${[program, ...args].join(" ")} ended with exit code ${code}:\n${stdout}\n${stderr}`);
  return stdout;
}

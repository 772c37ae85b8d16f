import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { MrlmError, parseJson } from "@mrlm/spec";

/** Longest query of the registry, in milliseconds. */
const QUERY_MS = 60_000;

/**
 * Runs a query of the user's npm, with its registry, proxy and permissions, and returns the JSON that it prints.
 * @throws NPM_FAILED
 */
export async function queryNpm(args: readonly string[], directory: string): Promise<unknown> {
  const child = spawn("npm", [...args, "--json", "--loglevel=error"], {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.timeout(QUERY_MS),
  });
  const outputs = Promise.all([text(child.stdout), text(child.stderr)]);
  const [exitCode] = (await once(child, "close").catch((error: Error) => {
    throw failed(args, error.name === "AbortError" ? `it did not answer within ${QUERY_MS / 1000} s` : error.message);
  })) as [number | null];
  const [stdout, stderr] = await outputs;
  if (exitCode !== 0) throw failed(args, reasonOf(stdout, stderr) ?? `exit code ${exitCode}`);
  try {
    return stdout.trim() === "" ? undefined : parseJson(stdout);
  } catch {
    throw failed(args, `it printed no JSON: ${stdout.slice(0, 200)}`);
  }
}

/** Runs npm, or another package manager, with the user's terminal: it may ask for a one-time code. Returns the exit code. */
export async function runForUser(command: string, args: readonly string[], directory: string): Promise<number> {
  // Results are on stdout: the output of npm is for people.
  const child = spawn(command, args, { cwd: directory, stdio: ["inherit", 2, "inherit"] });
  const [exitCode] = (await once(child, "close").catch((error: Error) => {
    throw failed([command, ...args], error.message);
  })) as [number | null];
  return exitCode ?? 1;
}

/** Returns the message of npm's error: in its JSON, else in its lines on stderr. */
function reasonOf(stdout: string, stderr: string): string | undefined {
  try {
    const { error } = parseJson(stdout) as { error?: { code?: string; summary?: string } };
    if (error !== undefined) return [error.code, error.summary?.split("\n")[0]].filter(Boolean).join(": ");
  } catch {
    // Older versions print no JSON of an error.
  }
  const lines = stderr.split("\n").flatMap((line) => /^npm (?:error|ERR!) (?:code )?(.+)$/.exec(line)?.[1] ?? []);
  return lines.length === 0 ? undefined : lines.slice(0, 2).join(": ");
}

function failed(args: readonly string[], reason: string): MrlmError {
  return new MrlmError("NPM_FAILED", `\`npm ${args.join(" ")}\` failed: ${reason.replace(/\.$/, "")}.`, {
    hint: "Check the registry, the network and the permissions of your npm: `npm config get registry`, `npm whoami`.",
  });
}

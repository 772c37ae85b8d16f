import { randomBytes } from "node:crypto";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import {
  defined,
  type ExecOptions,
  type ExecResult,
  type JsonObject,
  MrlmError,
  type Workspace,
  type WorkspaceOptions,
} from "@mrlm/spec";
import { FORWARD, FORWARDED, MISSING } from "./forwarders.ts";
import type { AgentRun } from "./types.ts";

/** Time of a command without a limit of its own, in milliseconds: the limits of the episode end the program. */
const TIMEOUT_MS = 86_400_000;
/** Characters of the output in errors. */
const TAIL = 1_500;

/**
 * Opens a workspace for the program of an episode. Its only network is the model, at the socket `/mrlm/socket`, and after `connect` at a loopback address. The variables of the
 * program alone have the address and the key: other commands, such as those of a score, do not depend on what the program wrote where a variable points to.
 * @param options.env variables of all commands
 * @param options.programEnv variables of the program
 * @param options.hasPort whether the variables have the loopback address; else `http://localhost/v1`, for clients that take a socket
 */
export async function openProgram(
  { context, model, signal }: Pick<AgentRun<unknown, JsonObject>, "context" | "model" | "signal">,
  {
    hasPort,
    programEnv,
    ...options
  }: Omit<WorkspaceOptions, "signal" | "socket"> & {
    readonly hasPort: boolean;
    readonly programEnv: Readonly<Record<string, string>>;
  },
): Promise<ProgramWorkspace> {
  const workspaces = context.workspaces("linux");
  const socket = join(workspaces.sockets, randomBytes(6).toString("hex"));
  const baseURL = hasPort ? `http://${FORWARDED.host}:${FORWARDED.port}/v1` : undefined;
  const { env } = await model.listen({ socketPath: socket, ...defined({ baseURL }) });
  // Programs of a container are another user. The folder is closed to others, and the key is of this episode.
  await chmod(socket, 0o666);
  const workspace = await workspaces.open({
    ...options,
    limits: { ...options.limits, timeoutMs: TIMEOUT_MS },
    socket,
    signal,
  });
  return new ProgramWorkspace(workspace, signal, { ...env, ...programEnv });
}

/** Workspace of a program. */
export class ProgramWorkspace {
  readonly workspace: Workspace;
  readonly #signal: AbortSignal;
  readonly #env: Readonly<Record<string, string>>;
  #hasRun = false;
  #running: Promise<unknown>[] = [];
  #stop = new AbortController();
  /** Rejects where the forwarder ends before the program. */
  #forwarding: Promise<never> | undefined;

  /**
   * @param signal ends all that it runs
   * @param env variables of the program
   */
  constructor(workspace: Workspace, signal: AbortSignal, env: Readonly<Record<string, string>> = {}) {
    this.workspace = workspace;
    this.#signal = signal;
    this.#env = env;
  }

  /** Connects the loopback address with the socket until the end of the next `run`. Rejects with OPTIONS_INVALID for a base without an interpreter for it. */
  async connect(): Promise<void> {
    const ready = Promise.withResolvers<void>();
    let isReady = false;
    const onOutput = (): void => {
      isReady = true;
      ready.resolve();
    };
    this.#forwarding = this.#exec(this.withVariables(FORWARD), { onOutput }).then(async (result) => {
      // Over an image a program may have replaced the interpreter.
      if (this.#hasRun && !isReady) throw new Error(`the program left no address of the model: it ${howEnded(result)}`);
      if (result.exitCode === MISSING) throw noInterpreter();
      // Only the program could cause this. It learns of it by its connections.
      if (result.limit !== undefined && isReady) return new Promise<never>(() => {});
      throw new MrlmError("SANDBOX_FAILED", `The address of the model ended: it ${howEnded(result)}.`);
    });
    this.#forwarding.catch(() => undefined);
    await Promise.race([ready.promise, this.#forwarding]);
  }

  /** Runs a program to its end; then nothing of it runs, and it has no address. Rejects with SANDBOX_FAILED for what it did not cause. */
  async run(command: string, options: Pick<ExecOptions, "stdin" | "onOutput"> = {}): Promise<ExecResult> {
    this.#hasRun = true;
    try {
      const running = this.#exec(this.withVariables(command), options);
      // An abort ends both, and the end of the program has its output.
      const lost = this.#forwarding?.catch((error: unknown) => {
        if (this.#signal.aborted) return new Promise<never>(() => {});
        throw error;
      });
      return await (lost === undefined ? running : Promise.race([running, lost]));
    } finally {
      this.#stop.abort();
      await this.ended();
      this.#running = [];
      this.#stop = new AbortController();
      this.#forwarding = undefined;
    }
  }

  /** Returns a command that has the variables of the program. */
  withVariables(command: string): string {
    const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
    return [...Object.entries(this.#env).map(([name, value]) => `export ${name}=${quoted(value)}`), command].join("\n");
  }

  /** Waits until nothing runs that `connect` and `run` have started. The signal ends it. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #exec(command: string, options: ExecOptions): Promise<ExecResult> {
    const signal = AbortSignal.any([this.#signal, this.#stop.signal]);
    const running = this.workspace.exec(command, { ...options, signal });
    this.#running.push(running);
    try {
      return await running;
    } catch (cause) {
      if (signal.aborted || MrlmError.hasCode(cause, "SANDBOX_FAILED")) throw cause;
      throw new MrlmError("SANDBOX_FAILED", `The workspace of a program failed: ${(cause as Error).message}`, {
        cause,
      });
    }
  }
}

/** Returns how a command ended, and the end of its output. */
export function howEnded({ exitCode, signal, timedOut, limit, stdout, stderr }: ExecResult): string {
  const texts = [stdout, stderr].map((bytes) =>
    Buffer.from(bytes)
      .toString()
      .trim()
      .slice(-TAIL / 2),
  );
  const met = limit ?? (timedOut ? "time" : undefined);
  const how = met !== undefined ? `met the limit ${met}` : `ended with ${signal ?? `exit code ${exitCode}`}`;
  const printed = texts.filter(Boolean).join("\n");
  return `${how}${printed === "" ? ", without output" : `. The end of its output: ${printed}`}`;
}

function noInterpreter(): MrlmError {
  return new MrlmError(
    "OPTIONS_INVALID",
    "The base of a workspace has neither python3 nor node, one of which connects a port with the socket of the model.",
    {
      hint: "Use an image with one of them. A client that takes a Unix socket needs none: it reaches the model at /mrlm/socket.",
    },
  );
}

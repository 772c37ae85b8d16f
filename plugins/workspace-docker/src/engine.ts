import { existsSync } from "node:fs";
import { Agent } from "node:http";
import { join, posix } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { hasOwnerEnded } from "@mrlm/process";
import { MrlmError } from "@mrlm/spec";
import Docker from "dockerode";

/** Label of containers, which names the process that made them. */
export const OWNER = "mrlm.workspaces.owner";

/** Attempts of a removal, and the pause between two in milliseconds. */
const REMOVALS = 50;
const REMOVAL_MS = 100;

/** Longest time of an answer of an engine, in milliseconds. */
const ANSWER_MS = 120_000;

/** Error of an engine, or of the connection to it. */
type EngineError = Error & { readonly code?: string; readonly statusCode?: number };

const UNREACHABLE: Readonly<Record<string, string>> = {
  ENOENT: "there is no such socket",
  ECONNREFUSED: "nothing listens there",
  EACCES: "this user may not open it",
};

/**
 * Connects to an engine, and removes what processes of this machine left that were killed. Rejects with SANDBOX_FAILED where there is no engine, or it does not
 * limit memory and processes.
 * @param socket path of its Unix socket; default: DOCKER_HOST, else the first that exists of the usual ones
 * @param answerMs longest time of its first answer
 */
export async function connect(socket = usualSocket(), answerMs = ANSWER_MS): Promise<Docker> {
  // A connection for each call: none is left after the close of the provider. The types do not know the agent.
  const options = { socketPath: socket, host: undefined, agent: new Agent({ keepAlive: false }) };
  const engine = socket === undefined ? new Docker() : new Docker(options as Docker.DockerOptions);
  const place = socket ?? process.env["DOCKER_HOST"];
  try {
    const { MemoryLimit, PidsLimit } = (await within(engine.info(), answerMs)) as {
      MemoryLimit?: boolean;
      PidsLimit?: boolean;
    };
    const missing = [...(MemoryLimit === true ? [] : ["memory"]), ...(PidsLimit === true ? [] : ["processes"])];
    if (missing.length > 0)
      throw new MrlmError("SANDBOX_FAILED", `The container engine at ${place} cannot limit ${missing.join(" and ")}.`, {
        hint: "Delegate the cgroup controllers `memory` and `pids` to the user of the engine (systemd: Delegate=yes), or run it as root.",
      });
    await sweep(engine);
    return engine;
  } catch (error) {
    if (MrlmError.isInstance(error)) throw error;
    const { code = "", message } = error as EngineError;
    throw new MrlmError(
      "SANDBOX_FAILED",
      `The container engine at ${place} cannot be reached: ${UNREACHABLE[code] ?? message}.`,
      {
        hint: "Start Docker, or Podman (`systemctl --user start podman.socket`), and let this user open the socket; name it in `socket` of the plugin or in DOCKER_HOST.",
        cause: error,
      },
    );
  }
}

/** Returns the socket by which an engine is reached; `undefined` for an address in DOCKER_HOST. */
function usualSocket(): string | undefined {
  const host = process.env["DOCKER_HOST"];
  if (host !== undefined && host !== "") return /^unix:\/\/(.*)$/.exec(host)?.[1];
  const runtime = process.env["XDG_RUNTIME_DIR"];
  const usual = [
    "/var/run/docker.sock",
    ...(runtime === undefined ? [] : [join(runtime, "docker.sock"), join(runtime, "podman/podman.sock")]),
    "/run/podman/podman.sock",
  ];
  return usual.find((path) => existsSync(path)) ?? "/var/run/docker.sock";
}

async function sweep(engine: Docker): Promise<void> {
  const left = await within(engine.listContainers({ all: true, filters: { label: [OWNER] } }));
  const orphans = left.filter(({ Labels }) => hasOwnerEnded(Labels[OWNER] ?? ""));
  await Promise.all(orphans.map(({ Id }) => remove(engine.getContainer(Id))));
}

/** Ends and removes a container, unless it is gone. Rejects with SANDBOX_FAILED if the engine does not. */
export async function remove(container: Docker.Container): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await within(container.remove({ force: true, v: true }));
      return;
    } catch (error) {
      const { statusCode } = error as EngineError;
      if (statusCode === 404) return;
      // An engine refuses while the container ends, or is removed, by itself.
      if (statusCode === undefined || attempt === REMOVALS)
        throw engineFailed("A container could not be removed", error);
      await delay(REMOVAL_MS);
    }
  }
}

/** An image, and the folders that it declares as volumes. */
export interface Image {
  readonly id: string;
  readonly volumes: readonly string[];
}

/** Reads what an engine knows of an image. Rejects with OPTIONS_INVALID where it has none of this name. */
export async function readImage(engine: Docker, name: string): Promise<Image> {
  try {
    const { Id, Config } = await within(engine.getImage(name).inspect());
    return {
      id: Id,
      volumes: Object.keys((Config?.Volumes as object | null | undefined) ?? {}).map((path) =>
        posix.resolve("/", path),
      ),
    };
  } catch (error) {
    if ((error as EngineError).statusCode !== 404) throw engineFailed(`The image ${name} could not be read`, error);
    throw new MrlmError("OPTIONS_INVALID", `The container engine has no image ${name}.`, {
      hint: `Fetch it (\`docker pull ${name}\` or \`podman pull ${name}\`), or build it under this name.`,
    });
  }
}

/** Rejects with SANDBOX_FAILED where an engine does not answer in time. */
export async function within<T>(answer: Promise<T>, ms = ANSWER_MS): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const silent = (): MrlmError =>
    new MrlmError("SANDBOX_FAILED", `The container engine has not answered for ${ms / 1000} s.`, {
      hint: "Look at the log of Docker or Podman, and start it again: it waits for its storage or a lock, or the machine is overloaded.",
    });
  const timer = setTimeout(() => reject(silent()), ms);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Creates the error of a call that the engine refused, or that did not reach it. */
export function engineFailed(what: string, error: unknown): MrlmError {
  if (MrlmError.isInstance(error)) return error;
  return new MrlmError("SANDBOX_FAILED", `${what}: ${(error as Error).message.trim().replace(/\.$/, "")}.`, {
    hint: "Look at the log of Docker or Podman. An engine that was restarted has ended the containers of its workspaces.",
    cause: error,
  });
}

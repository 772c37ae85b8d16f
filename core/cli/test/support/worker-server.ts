import { connectEnvironments } from "@mrlm/client";
import { serveEnvironments, startWorkers } from "@mrlm/server";
import type { Action, Logger } from "@mrlm/spec";
import type { EnvironmentHost, EnvironmentSession } from "@mrlm/spec/host";
import { environmentWorkers, type EnvironmentWorkersOptions } from "../../src/services/environment-workers.ts";

type WorkerPoolOptions = Parameters<typeof startWorkers>[0];

const { signal } = new AbortController();

/** Starts a server whose environments are in workers, and a client. */
export async function workerServer(
  directory: string,
  options: Partial<WorkerPoolOptions> & Pick<EnvironmentWorkersOptions, "memoryMb"> = {},
) {
  const lines: string[] = [];
  const log = (message: string): void => void lines.push(message);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const { memoryMb, ...pool } = options;
  const starter = environmentWorkers({
    request: {
      directory,
      config: undefined,
      environments: undefined,
      dataRoot: directory,
      anyData: false,
      logsJson: false,
    },
    print: (name, line) => log(`${name}: ${line}`),
    ...(memoryMb === undefined ? {} : { memoryMb }),
  });
  const workers = await startWorkers({ count: 1, start: starter.start, logger, ...pool }).catch((error: unknown) => {
    starter.close();
    throw error;
  });
  const server = await serveEnvironments({ host: workers.host, workers, address: "127.0.0.1:0", logger });
  const address = `127.0.0.1:${server.port}`;
  const host = await connectEnvironments(address);
  return {
    address,
    host,
    workers,
    server,
    lines,
    async close(): Promise<void> {
      await host.close();
      await server.close();
      starter.close();
    },
  };
}

/** Opens a session and begins its episode. */
export async function begin(host: EnvironmentHost, id: string): Promise<EnvironmentSession> {
  const session = await host.open({ id });
  try {
    await session.reset({ signal });
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Takes a step with a text. @returns the text of the observation, or the code of the error */
export async function act(session: EnvironmentSession, text = "go"): Promise<string> {
  const action: Action = {
    agent: "agent",
    message: { role: "assistant", parts: [{ type: "text", text }] },
    finishReason: "stop",
  };
  try {
    const { observation } = await session.step(action, { signal });
    const [part] = observation.messages[0]?.parts ?? [];
    return part?.type === "text" ? part.text : "";
  } catch (error) {
    return `${(error as { code?: string }).code}: ${(error as Error).message}`;
  }
}

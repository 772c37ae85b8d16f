import { type EnvironmentServer, serveEnvironments } from "../../src/index.ts";
import type { ServeEnvironmentsOptions } from "../../src/serve-environments.ts";
import { serveByWorker } from "./serve-by-worker.ts";

/** Serves environments in this process; by a worker where the environment variable SERVED_BY is set so, so that the same tests hold for both. */
export function serve(options: ServeEnvironmentsOptions): Promise<EnvironmentServer> {
  return (process.env["SERVED_BY"] === "worker" ? serveByWorker : serveEnvironments)(options);
}

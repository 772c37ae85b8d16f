import { type EnvironmentServer, serveEnvironments, type ServeEnvironmentsOptions } from "../../src/index.ts";
import { serveByWorker } from "./serve-by-worker.ts";

/** Serves environments in this process; by a worker where the environment variable SERVED_BY is set so, so that the same tests hold for both. */
export function serve(options: ServeEnvironmentsOptions): Promise<EnvironmentServer> {
  return (process.env["SERVED_BY"] === "worker" ? serveByWorker : serveEnvironments)(options);
}

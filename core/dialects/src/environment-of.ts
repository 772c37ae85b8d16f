import { MrlmError } from "@mrlm/spec";
import type { Call } from "./dialect.ts";
import { environmentIn } from "./environment-name.ts";

/**
 * Returns the environment of a request: that of the path or the port, else that of the header X-Deployment. A port with one environment ignores the header,
 * because some clients send any name. Throws ENVIRONMENT_NOT_FOUND.
 */
export function environmentOf({ environment, exchange }: Call, environments: readonly string[]): string {
  const deployment = exchange.header("x-deployment");
  const found = environment ?? (deployment === undefined ? undefined : environmentIn(environments, deployment));
  if (found !== undefined) return found;
  throw new MrlmError("ENVIRONMENT_NOT_FOUND", "This server offers several environments, and the request names none.", {
    hint: `Name one of ${environments.join(", ")} before the path, by X-Deployment or by env_name, or connect to a port of its own.`,
  });
}

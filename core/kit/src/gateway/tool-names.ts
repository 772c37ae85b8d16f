import { z } from "zod";
import { invalidParameter } from "./api-error.ts";
import type { Place } from "./parameters.ts";

/** Name of a tool that a policy server accepts. */
export const toolName = z.string().regex(/^[\w.-]{1,128}$/);
/** Names of tools in an environment. */
const IN_EPISODE = /^[\w-]{1,64}$/;

/** Checks the names of the tools of a request. Throws ApiError with status 400. @param paramOf returns the place of a name */
export function checkToolNames(names: readonly string[], place: Place, paramOf: (index: number) => string): void {
  const index = names.findIndex((name) => !IN_EPISODE.test(name));
  if (place === "episode" && index >= 0)
    throw invalidParameter(paramOf(index), "The name of a tool in an episode is [A-Za-z0-9_-]{1,64}.");
}

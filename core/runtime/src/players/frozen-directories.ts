import type { RoleId } from "@mrlm/spec";
import type { PlayerRef } from "@mrlm/spec/host";
import { isRemote } from "../config/engines.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { located } from "../config/located.ts";
import type { ResolvedEnvironment } from "../config/resolve-config.ts";
import type { ConfigPath } from "../config/source-text.ts";
import { assertModelDirectory, modelDirectory } from "../run/model-directory.ts";
import { isFrozen } from "./frozen-models.ts";

/** Finds the directory of the model that a path names. The error has the place of the path. */
export type DirectoryFinder = (given: string, place: ConfigPath) => Promise<string>;

/** Returns a finder that looks up each path once. */
export function directoryFinder({ source }: LoadedConfig, onNotice: (text: string) => void): DirectoryFinder {
  const known = new Map<string, Promise<string>>();
  const look = async (given: string): Promise<string> => {
    const { path, notice } = await modelDirectory(given);
    if (notice !== undefined) onNotice(notice);
    return path;
  };
  return (given, place) => {
    const directory = known.get(given) ?? look(given);
    known.set(given, directory);
    return directory.catch((error: unknown) => Promise.reject(located(error, source.locate(place))));
  };
}

/** Returns the directory of the model that a path names. Throws where this machine lacks it and the engine reads the disk of this machine. */
export async function localDirectory(
  given: string,
  place: ConfigPath,
  { config, source }: LoadedConfig,
  found: DirectoryFinder,
): Promise<string> {
  const named = await found(given, place);
  // A remote engine reads its own disk.
  if (!isRemote(config)) assertModelDirectory(named, source.locate(place));
  return named;
}

/**
 * Replaces the paths of the frozen models that play in an environment.
 * @param path of the entry in `environments`
 */
export async function withFrozenPaths<E extends ResolvedEnvironment>(
  environment: E,
  path: ConfigPath,
  replace: DirectoryFinder,
): Promise<E> {
  const { players } = environment;
  if (players === undefined) return environment;
  const replaced = Object.entries(players).map(async ([role, player]): Promise<readonly [RoleId, PlayerRef]> => [
    role,
    isFrozen(player) ? { model: await replace(player.model, [...path, "players", role, "model"]) } : player,
  ]);
  return { ...environment, players: Object.fromEntries(await Promise.all(replaced)) };
}

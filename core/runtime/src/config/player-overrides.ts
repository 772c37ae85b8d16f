import { resolve } from "node:path";
import { MrlmError } from "@mrlm/spec";
import { bareName } from "../names/versioned.ts";
import { environmentPath } from "./environment-place.ts";
import type { LoadedConfig } from "./load-config.ts";
import { type Override, yamlValue } from "./overrides.ts";
import { modelPath } from "./sections/values.ts";
import type { ConfigPath } from "./source-text.ts";

const EXAMPLE =
  "For example --player 'second={scripted: optimal}'; the player is YAML, as under `players` in a configuration.";

/**
 * Returns the overrides of flags `--player ROLE=PLAYER`, which replace players of an environment in a configuration.
 * @param environment id of the environment, with or without its version; a configuration without it gets an entry
 * @param directory base of the relative paths of frozen models
 * @throws USAGE
 */
export function playerOverrides(
  loaded: LoadedConfig,
  environment: string,
  flags: readonly string[],
  directory: string,
): Override[] {
  const path = entryOf(loaded, environment);
  const parsed = flags.map((given) => {
    const [, role = "", text = ""] = /^([^=]*)=([^]*)$/.exec(given) ?? [];
    if (role.trim() === "" || text.trim() === "")
      throw new MrlmError("USAGE", `--player ${given} is not ROLE=PLAYER.`, { hint: EXAMPLE });
    const flag = `--player ${role.trim()}`;
    return { flag, role: role.trim(), value: withDirectory(yamlValue(text, flag, EXAMPLE), directory) };
  });
  if (path !== undefined) {
    // A flag names the role of its player: `sides: shuffle` would draw another one for each group.
    const fixed = { flag: "--player", path: [...path, "sides"], value: "fixed" };
    return [...parsed.map(({ flag, role, value }) => ({ flag, path: [...path, "players", role], value })), fixed];
  }
  const players = Object.fromEntries(parsed.map(({ role, value }) => [role, value]));
  return [{ flag: "--player", path: ["eval", "environments"], value: [{ id: environment, players }] }];
}

function entryOf(loaded: LoadedConfig, environment: string): ConfigPath | undefined {
  const { config } = loaded;
  const lists = { "eval.environments": config.eval.environments, environments: config.environments } as const;
  for (const list of ["eval.environments", "environments"] as const) {
    const index = lists[list].findIndex(({ id }) => bareName(id) === bareName(environment));
    if (index >= 0) return environmentPath(loaded, list, index);
  }
  return undefined;
}

/** A path on the command line is relative to the working directory. */
function withDirectory(player: unknown, directory: string): unknown {
  const model = (player as { readonly model?: unknown } | null)?.model;
  const isFrozen = typeof model === "string" && !Object.hasOwn(player as object, "endpoint");
  return isFrozen && modelPath(model) !== model ? { ...(player as object), model: resolve(directory, model) } : player;
}

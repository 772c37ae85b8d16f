import { type JsonObject, MrlmError } from "@mrlm/spec";
import type { Player, PlayerRef } from "@mrlm/spec/host";
import { z } from "zod";
import { type ConfigProblem, optionProblems, showPath } from "../config/config-problems.ts";
import { located } from "../config/located.ts";
import type { ConfigPath } from "../config/source-text.ts";
import { keysOf, validateOptions } from "../plugins/standard-options.ts";
import { ENDPOINT_POLICY, endpointName, isOutside, outsidePlayer } from "./outside-policies.ts";
import type { PlayerSource } from "./player-source.ts";

/** Policy of a plugin that plays a role, as a configuration refers to it. */
interface OutsideReference {
  /** `openai@1`. */
  readonly id: string;
  /** Name in records. */
  readonly name: string;
  readonly options: JsonObject;
  /** Options that keys of the player state. */
  readonly stated: JsonObject;
  /** Place of the player. */
  readonly place: ConfigPath;
  /** Key of the player that selects the policy. */
  readonly key: "scripted" | "endpoint";
}

const NO_OPTIONS = z.strictObject({});

/** Options of the policy that asks endpoints, by the keys of a player. */
const ENDPOINT_KEYS: Readonly<Record<string, string>> = {
  base_url: "endpoint",
  model: "model",
  api_key_env: "api_key_env",
};

/** Returns the reference of a player to a policy of a plugin; `undefined` for a script of the environment. */
export function outsideReference(
  player: Extract<PlayerRef, { readonly endpoint: string } | { readonly scripted: string }>,
  place: ConfigPath,
): OutsideReference | undefined {
  if ("endpoint" in player) {
    const { endpoint, options = {}, ...keys } = player;
    const name = endpointName(endpoint, player.model);
    return { id: ENDPOINT_POLICY, name, options, stated: { ...keys, base_url: endpoint }, place, key: "endpoint" };
  }
  const { scripted: name, options = {} } = player;
  return isOutside(name) ? { id: name, name, options, stated: {}, place, key: "scripted" } : undefined;
}

/**
 * Returns the player of a plugin's policy.
 * @throws CONFIG_INVALID for a policy that no plugin has, and for wrong options
 */
export async function resolveOutside(
  reference: OutsideReference,
  { policies, source, refuse, onNotice }: Pick<PlayerSource, "policies" | "source" | "refuse" | "onNotice">,
): Promise<Player> {
  const { id, name, options, stated, place, key } = reference;
  const twice = Object.keys(options).filter((option) => Object.hasOwn(stated, option));
  if (twice.length > 0)
    throw refuse(
      twice.map((option) => ({
        path: [...place, "options", option],
        at: "key",
        text: `${showPath([...place, "options", option])} is stated twice: \`${ENDPOINT_KEYS[option]}\` of the player states it`,
      })),
    );
  const found = await policies.policy(id).catch((error: unknown) => {
    if (!MrlmError.hasCode(error, "PLAYER_NOT_FOUND")) throw located(error, source.locate([...place, key]));
    throw refuse([{ path: [...place, key], at: "value", text: `${error.message} ${error.hint}` }]);
  });
  const { options: schema = NO_OPTIONS, determinism = "full" } = found;
  const outcome = await validateOptions(schema, { ...options, ...stated });
  if (!outcome.ok)
    throw refuse(
      optionProblems([...place, "options"], (path) => keysOf(schema, path), outcome.issues).map((problem) =>
        atKeyOfPlayer(problem, reference),
      ),
    );
  if (determinism !== "full")
    onNotice(
      `${source.locate(place)}: ${showPath(place)} is played by ${name}, whose answers can differ between two runs: the same seed and configuration do not repeat this run.`,
    );
  return outsidePlayer(id, found, outcome.value, name);
}

/** Moves a fault of an option that a key of the player states to that key. */
function atKeyOfPlayer(problem: ConfigProblem, { place, key }: OutsideReference): ConfigProblem {
  const [option, ...rest] = problem.path.slice(place.length + 1);
  const own = key === "endpoint" ? ENDPOINT_KEYS[String(option)] : undefined;
  if (own === undefined) return problem;
  const path = [...place, own, ...rest];
  return { ...problem, path, text: problem.text.replace(showPath(problem.path), () => showPath(path)) };
}

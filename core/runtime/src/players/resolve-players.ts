import {
  type EnvironmentDescription,
  type EnvironmentHost,
  type EnvironmentRef,
  MrlmError,
  type JsonObject,
  type Player,
  type PlayerRef,
  type PolicyId,
  type PolicySource,
  type RolloutRequest,
} from "@mrlm/spec";
import { type ConfigProblem, optionProblems, showPath } from "../config/config-problems.ts";
import { located } from "../config/located.ts";
import type { ResolvedEnvironment } from "../config/resolved-config.ts";
import type { ConfigPath, SourceText } from "../config/source-text.ts";
import { ownMember } from "../names/own-member.ts";
import type { PolicySources } from "../plugins/plugin-kinds.ts";
import { keysOf, validateOptions } from "../plugins/standard-options.ts";
import type { FrozenModel } from "./frozen-models.ts";
import { isOutside, outsidePlayer } from "./outside-policies.ts";
import { notInstalled, roleProblems } from "./role-problems.ts";

/** Environments whose scripted policies can act in this process. */
export type ScriptSource = Pick<EnvironmentHost, "scripted">;

/** Players that the roles of a run refer to. */
export interface PlayerSource {
  readonly policy: PolicyId;
  readonly frozen: readonly FrozenModel[];
  readonly scripts: ScriptSource;
  /** Policies of plugins. */
  readonly policies: Pick<PolicySources, "policy">;
  readonly source: Pick<SourceText, "locate">;
  /** Creates the error for wrong names. */
  refuse(problems: readonly ConfigProblem[]): MrlmError;
  onNotice(text: string): void;
}

/**
 * Returns the players of an environment's roles for requests of episodes.
 * @param path of the entry in `environments`
 * @throws CONFIG_INVALID for a role or a scripted policy that the environment lacks, and for wrong options of a plugin's policy; OPTIONS_INVALID for wrong
 * options of a scripted policy
 */
export async function resolvePlayers(
  { players, sides, options }: ResolvedEnvironment,
  { id, roles }: EnvironmentDescription,
  path: ConfigPath,
  source: PlayerSource,
): Promise<Pick<RolloutRequest, "players" | "sides">> {
  const { policy, refuse } = source;
  if (players === undefined) return { players: policy };
  const problems = roleProblems(path, players, { id, roles: Object.keys(roles) });
  if (problems.length > 0) throw refuse(problems);
  const resolved = await Promise.all(
    Object.keys(roles).map(async (role) => {
      const place = [...path, "players", role];
      const player = ownMember(players, role) ?? { policy };
      return [role, await resolvePlayer(player, { id, options }, place, source)] as const;
    }),
  );
  return { players: Object.fromEntries(resolved), sides: sides ?? "fixed" };
}

async function resolvePlayer(
  player: PlayerRef,
  environment: EnvironmentRef,
  place: ConfigPath,
  players: PlayerSource,
): Promise<Player> {
  if ("policy" in player) return { kind: "policy", policy: player.policy };
  if ("model" in player) {
    const model = players.frozen.find((each) => each.path === player.model)?.model;
    if (model === undefined) throw new MrlmError("INTERNAL", `The model ${player.model} was not listed.`);
    return { kind: "model", name: player.model, model };
  }
  const { scripted: name, options = {} } = player;
  return isOutside(name)
    ? resolveOutside(name, options, place, players)
    : resolveScript(name, options, environment, place, players);
}

async function resolveScript(
  name: string,
  options: JsonObject,
  environment: EnvironmentRef,
  place: ConfigPath,
  { scripts, source, refuse }: PlayerSource,
): Promise<Player> {
  const refused = (text: string): MrlmError => refuse([{ path: [...place, "scripted"], at: "value", text }]);
  const create = async (seed: number) => {
    if (scripts.scripted === undefined) throw refused(notInstalled(name, environment.id));
    return scripts.scripted(environment, { name, options, seed });
  };
  try {
    await create(0);
  } catch (error) {
    if (MrlmError.hasCode(error, "CONFIG_INVALID")) throw error;
    if (MrlmError.hasCode(error, "ENVIRONMENT_NOT_FOUND")) throw refused(notInstalled(name, environment.id));
    if (MrlmError.hasCode(error, "PLAYER_NOT_FOUND")) throw refused(`${error.message} ${error.hint}`);
    throw located(error, source.locate([...place, "options"]));
  }
  return { kind: "scripted", name, isOutside: false, open: ({ seed }) => create(seed) };
}

async function resolveOutside(
  name: string,
  given: JsonObject,
  place: ConfigPath,
  { policies, source, refuse, onNotice }: PlayerSource,
): Promise<Player> {
  const found = await policies.policy(name).catch((error: unknown) => {
    if (!MrlmError.hasCode(error, "PLAYER_NOT_FOUND")) throw located(error, source.locate([...place, "scripted"]));
    throw refuse([{ path: [...place, "scripted"], at: "value", text: `${error.message} ${error.hint}` }]);
  });
  const options = await validated(name, found, given, [...place, "options"], refuse);
  const { determinism = "full" } = found;
  if (determinism !== "full")
    onNotice(
      `${source.locate(place)}: ${showPath(place)} is played by ${name}, whose answers can differ between two runs: the same seed and configuration do not repeat this run.`,
    );
  return outsidePlayer(name, found, options);
}

async function validated(
  name: string,
  { options: schema }: PolicySource<unknown>,
  given: JsonObject,
  place: ConfigPath,
  refuse: PlayerSource["refuse"],
): Promise<unknown> {
  if (schema === undefined) {
    const key = Object.keys(given)[0];
    if (key === undefined) return {};
    throw refuse([{ path: [...place, key], at: "key", text: `policy ${name} takes no options` }]);
  }
  const outcome = await validateOptions(schema, given);
  if (outcome.ok) return outcome.value;
  throw refuse(optionProblems(place, (path) => keysOf(schema, path), outcome.issues));
}

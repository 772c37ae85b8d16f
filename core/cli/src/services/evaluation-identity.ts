import { existsSync } from "node:fs";
import { hashOfFiles, modelDirectory, type OpenedSession, type StoredCell, trainedPolicy } from "@mrlm/runtime";
import { isObject, type JsonObject, type JsonValue } from "@mrlm/spec";
import type { RolloutSessionConfig } from "./rollout-session-config.ts";
import { plainJson } from "./plain-json.ts";

/** Returns everything that decides the episodes of a model in an environment, beside their sampling and tasks. Weights count by their content, not by their path. */
export async function cellIdentity(
  { config, endpoint, person }: RolloutSessionConfig,
  { ref, known, description }: OpenedSession["environment"],
): Promise<StoredCell["identity"]> {
  const { policy: _, model } = trainedPolicy(config);
  const { path, lora, random: __, sampling: ___, ...keys } = model;
  const { players = {}, sides = "fixed", max_turns: maxTurns = 0 } = known ?? {};
  const ofPlayers = await Promise.all(
    Object.entries(plainJson(players)).map(async ([role, player]) => [role, await playerIdentity(player)]),
  );
  const weights = {
    weights: path === undefined || person !== undefined ? null : await hashOfFiles(path),
    ...(lora?.path === undefined ? {} : { adapter: await hashOfFiles(lora.path) }),
  };
  const { behaviour, version } = description.providedBy ?? {};
  return {
    environment: {
      // The recorded behaviour identifies the code, else the version of its package.
      behaviour: behaviour ?? version ?? null,
      ...{ environment: ref.id, options: ref.options ?? {}, data: description.dataFiles ?? {} },
      ...{ players: Object.fromEntries(ofPlayers) as JsonObject, sides, max_turns: maxTurns },
      // Options of scorers, judges and tools.
      plugins: plainJson(config.plugins),
    },
    model: {
      ...(endpoint === undefined
        ? { ...weights, ...plainJson(keys) }
        : { endpoint: endpoint.endpoint, model: endpoint.model, options: endpoint.options ?? {} }),
      max_sequence_tokens: config.sampling.max_sequence_tokens ?? 0,
    },
    seed: config.seed,
  };
}

/** Replaces the path of a frozen model by the hash of its files. */
async function playerIdentity(player: JsonValue | undefined): Promise<JsonValue> {
  if (!isObject(player)) return player ?? null;
  const { api_key_env: _, model, ...others } = player;
  if (typeof model !== "string" || "endpoint" in player || !existsSync(model))
    return { ...others, model: model ?? null };
  return { ...others, model: await hashOfFiles((await modelDirectory(model)).path) };
}

import type { Demonstration, Determinism, EnvironmentDescription, EnvironmentRef } from "@mrlm/spec";
import * as wire from "../gen/mrlm/env/v1/environment.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";
import { fromOptionalJson, toJson } from "../json.ts";
import { decodeMessage, decodeTool, encodeMessage, encodeTool } from "./messages.ts";

const DETERMINISM = {
  full: wire.Determinism.DETERMINISM_FULL,
  replayable: wire.Determinism.DETERMINISM_REPLAYABLE,
  none: wire.Determinism.DETERMINISM_NONE,
} as const satisfies Record<Determinism, wire.Determinism>;

export function encodeEnvironmentRef({ id, options }: EnvironmentRef): wire.EnvironmentRef {
  return { id, optionsJson: toJson(options) };
}

export function decodeEnvironmentRef(ref: wire.EnvironmentRef | undefined): EnvironmentRef {
  if (ref === undefined || ref.id === "") throw invalid("no environment is named");
  const options = fromOptionalJson(ref.optionsJson, `the options of environment "${ref.id}"`);
  return options === undefined ? { id: ref.id } : { id: ref.id, options };
}

export function encodeDescription(description: EnvironmentDescription): wire.EnvironmentDescription {
  return {
    id: description.id,
    description: description.description,
    determinism: DETERMINISM[description.determinism],
    agents: [...description.agents],
    optionsSchemaJson: toJson(description.optionsJsonSchema),
    splits: new Map(Object.entries(description.splits).map(([name, size]) => [name, toInt64(size, `the size of split "${name}"`)])),
    maxTurns: description.maxTurns,
    hasDemonstrations: description.hasDemonstrations,
    rewardComponents: [...description.rewardComponents],
    orderedSplits: [...description.orderedSplits],
  };
}

export function decodeDescription(description: wire.EnvironmentDescription): EnvironmentDescription {
  const { id, agents, splits, orderedSplits, maxTurns, hasDemonstrations, rewardComponents } = description;
  const determinism = (Object.keys(DETERMINISM) as Determinism[]).find((name) => DETERMINISM[name] === description.determinism);
  if (determinism === undefined) throw invalid(`environment "${id}" does not say how deterministic it is`);
  const optionsJsonSchema = fromOptionalJson(description.optionsSchemaJson, `the options schema of environment "${id}"`);
  return {
    id,
    description: description.description,
    determinism,
    agents,
    ...(optionsJsonSchema === undefined ? undefined : { optionsJsonSchema }),
    splits: Object.fromEntries(Array.from(splits, ([name, size]) => [name, fromInt64(size, `the size of split "${name}"`)])),
    orderedSplits,
    maxTurns,
    hasDemonstrations,
    rewardComponents,
  };
}

export function encodeDemonstration({ task, agent, messages, tools }: Demonstration): wire.Demonstration {
  return { task, agent, messages: messages.map(encodeMessage), tools: tools?.map(encodeTool) ?? [] };
}

/** No tools and an empty list of tools are the same on the wire, and read as left out. */
export function decodeDemonstration({ task, agent, messages, tools }: wire.Demonstration): Demonstration {
  return { task, agent, messages: messages.map(decodeMessage), ...(tools.length === 0 ? undefined : { tools: tools.map(decodeTool) }) };
}

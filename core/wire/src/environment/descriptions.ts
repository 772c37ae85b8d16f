import type { Demonstration, Determinism, Role, RoleId } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentPackage, EnvironmentRef } from "@mrlm/spec/host";
import type { Codec } from "../codec.ts";
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

/** Codec: reference to an environment. */
export const environmentRefCodec: Codec<EnvironmentRef, wire.EnvironmentRef, wire.EnvironmentRef | undefined> = {
  encode: ({ id, options }) => ({ id, optionsJson: toJson(options) }),

  decode(ref) {
    if (ref === undefined || ref.id === "") throw invalid("no environment is named");
    checkName(ref.id, "the name of an environment");
    if (ref.optionsJson.length > MAX_OPTIONS)
      throw invalid(
        `the options of environment "${ref.id}" have ${ref.optionsJson.length} characters; ${MAX_OPTIONS} are allowed`,
      );
    const options = fromOptionalJson(ref.optionsJson, `the options of environment "${ref.id}"`);
    return options === undefined ? { id: ref.id } : { id: ref.id, options };
  },
};

/** Limits of names and options in characters, because a server keeps them until the session ends. */
const MAX_NAME = 1_024;
const MAX_OPTIONS = 1 << 20;

/** Returns the name. Throws MESSAGE_INVALID if it is too long. */
export function checkName(name: string, what: string): string {
  if (name.length > MAX_NAME) throw invalid(`${what} has ${name.length} characters; ${MAX_NAME} are allowed`);
  return name;
}

/** Codec: description of an environment. */
export const descriptionCodec: Codec<EnvironmentDescription, wire.EnvironmentDescription> = {
  encode: (description) => ({
    id: description.id,
    description: description.description,
    determinism: DETERMINISM[description.determinism],
    agents: Object.keys(description.roles),
    optionsSchemaJson: toJson(description.optionsJsonSchema),
    splits: new Map(
      Object.entries(description.splits).map(([name, size]) => [name, toInt64(size, `the size of split "${name}"`)]),
    ),
    maxTurns: description.maxTurns,
    hasDemonstrations: description.hasDemonstrations,
    rewardComponents: [...description.rewardComponents],
    rewardRange: [...(description.rewardRange ?? [])],
    orderedSplits: [...description.orderedSplits],
    dataFiles: new Map(Object.entries(description.dataFiles ?? {})),
    // A relayed description of a server without roles stays one.
    roles: description.lacksExhausted === true ? [] : Object.entries(description.roles).map(encodeRole),
    providedBy: description.providedBy && { behaviour: "", ...description.providedBy },
    maxSessions: 0,
    use: undefined,
  }),

  decode(description) {
    const {
      id,
      agents,
      splits,
      orderedSplits,
      maxTurns,
      hasDemonstrations,
      rewardComponents,
      rewardRange,
      dataFiles,
      roles,
    } = description;
    const determinism = (Object.keys(DETERMINISM) as Determinism[]).find(
      (name) => DETERMINISM[name] === description.determinism,
    );
    if (determinism === undefined) throw invalid(`environment "${id}" states no determinism`);
    const optionsJsonSchema = fromOptionalJson(
      description.optionsSchemaJson,
      `the options schema of environment "${id}"`,
    );
    return {
      id,
      description: description.description,
      determinism,
      roles: Object.fromEntries(roles.length > 0 ? roles.map(decodeRole) : agents.map((role) => [role, {}])),
      ...(roles.length > 0 ? undefined : { lacksExhausted: true }),
      ...(optionsJsonSchema === undefined ? undefined : { optionsJsonSchema }),
      splits: Object.fromEntries(
        Array.from(splits, ([name, size]) => [name, fromInt64(size, `the size of split "${name}"`)]),
      ),
      orderedSplits,
      maxTurns,
      hasDemonstrations,
      rewardComponents,
      ...(rewardRange.length === 2 && { rewardRange: rewardRange as [number, number] }),
      ...(dataFiles.size === 0 ? undefined : { dataFiles: Object.fromEntries(dataFiles) }),
      ...(description.providedBy === undefined ? undefined : { providedBy: decodePackage(description.providedBy) }),
    };
  },
};

function decodePackage({ name, version, behaviour }: wire.EnvironmentPackage): EnvironmentPackage {
  return { name, version, ...(behaviour === "" ? undefined : { behaviour }) };
}

function encodeRole([id, { description = "", many = false }]: [RoleId, Role]): wire.Role {
  return { id, description, many };
}

/** Decodes a role. A field that states a default and no field are equal on the wire; it is then omitted. */
function decodeRole({ id, description, many }: wire.Role): [RoleId, Role] {
  return [id, { ...(description === "" ? undefined : { description }), ...(many ? { many } : undefined) }];
}

/** Codec: demonstration of a task. */
export const demonstrationCodec: Codec<Demonstration, wire.Demonstration> = {
  encode: ({ task, agent, messages, tools }) => ({
    task,
    agent,
    messages: messages.map(encodeMessage),
    tools: tools?.map(encodeTool) ?? [],
  }),

  /** Decodes a demonstration. An empty list of tools and no list are equal on the wire; `tools` is then omitted. */
  decode: ({ task, agent, messages, tools }) => ({
    task,
    agent,
    messages: messages.map(decodeMessage),
    ...(tools.length === 0 ? undefined : { tools: tools.map(decodeTool) }),
  }),
};

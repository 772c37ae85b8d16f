import type { PolicyId } from "@mrlm/spec";
import type { PastVersions } from "@mrlm/spec/host";
import { didYouMean, quoted } from "../names/nearest.ts";
import { valueAt } from "../plugins/schema-messages.ts";
import { type ConfigProblem, showPath } from "./config-problems.ts";
import type { ConfigInput, ParsedConfig } from "./schema.ts";
import { DEFAULT_POLICY } from "./sections/environments.ts";
import type { ConfigPath } from "./source-text.ts";

type EnvironmentInput = NonNullable<NonNullable<ConfigInput["eval"]>["environments"]>[number];
type PlayerInput = NonNullable<EnvironmentInput["players"]>[string];

/** Names of other models of a run: an algorithm's critic and references, and frozen players. */
const RESERVED = /^(critic(-.+)?|(reference|frozen)-\d+(-.+)?|past-.+)$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Finds faults of the trained models, and of the players of environments, that need no plugin. */
export function policyProblems(config: ConfigInput, parsed: ParsedConfig): ConfigProblem[] {
  const { model, policies, models } = config;
  const names = Object.keys(policies ?? models ?? { [DEFAULT_POLICY]: {} });
  const lists: readonly (readonly [ConfigPath, readonly EnvironmentInput[]])[] = [
    [["environments"], config.environments ?? []],
    [["eval", "environments"], config.eval?.environments ?? []],
  ];
  return [
    ...countProblems(config, names),
    ...names.flatMap((name) => nameProblems(policies === undefined ? "models" : "policies", name)),
    ...(model === undefined ? [] : sourceProblems(["model"], model)),
    ...Object.entries(policies ?? {}).flatMap(([name, each]) => sourceProblems(["policies", name], each)),
    ...differingPools(parsed),
    ...lists.flatMap(([list, environments]) =>
      environments.flatMap((environment, i) => [
        ...droppedRoles([...list, i, "players"], config),
        ...sharingPaths([...list, i, "reward_sharing"], config).flatMap((path) => droppedRoles(path, config)),
        // Each of several measured models plays by itself.
        ...environmentProblems([...list, i], environment, models === undefined ? names : [DEFAULT_POLICY]),
      ]),
    ),
  ];
}

/** Finds players whose pools of earlier versions differ from another one of the same policy: they share the copies. */
function differingPools(parsed: ParsedConfig): ConfigProblem[] {
  const first = new Map<PolicyId, PastVersions>();
  const lists = [
    [["environments"], parsed.environments],
    [["eval", "environments"], parsed.eval.environments ?? []],
  ] as const;
  return lists.flatMap(([list, environments]) =>
    environments.flatMap(({ players = {} }, i) =>
      Object.entries(players).flatMap(([role, player]): ConfigProblem[] => {
        if (!("policy" in player) || player.past === undefined) return [];
        const { policy, past } = player;
        const known = first.get(policy) ?? past;
        first.set(policy, known);
        if (known.every === past.every && known.keep === past.keep) return [];
        const text = `the players of one policy share its copies: \`every\` and \`keep\` are ${known.every} and ${known.keep} at another player of ${quoted(policy)}`;
        return [{ path: [...list, i, "players", role, "past"], at: "key", text }];
      }),
    ),
  );
}

function countProblems(config: ConfigInput, names: readonly string[]): ConfigProblem[] {
  const { model, policies, models } = config;
  if (models !== undefined) {
    const beside = (["model", "policies", "stages"] as const).find((key) => config[key] !== undefined);
    const text =
      names.length === 0
        ? "models: names no model to measure"
        : `models is for \`mrlm eval\`, which trains nothing: leave it or \`${beside}\` out`;
    return beside === undefined && names.length > 0 ? [] : [{ path: ["models"], at: "key", text }];
  }
  if (policies === undefined)
    return model === undefined
      ? [{ path: [], at: "value", text: "model: is missing: give the model to train here or under `policies`" }]
      : [];
  const problems: ConfigProblem[] = [];
  if (model !== undefined)
    problems.push({
      path: ["model"],
      at: "key",
      text: "model is short for `policies: { policy: ... }`: leave `model` or `policies` out",
    });
  if (names.length === 0)
    problems.push({ path: ["policies"], at: "key", text: "policies: a run trains at least one model" });
  return problems;
}

function nameProblems(list: "policies" | "models", name: string): ConfigProblem[] {
  const fault = !NAME.test(name)
    ? "must be letters, digits, dots, dashes and underscores"
    : RESERVED.test(name)
      ? "is the name of another model of a run"
      : undefined;
  return fault === undefined
    ? []
    : [
        {
          path: [list, name],
          at: "key",
          text: `the name ${quoted(name)} of a ${list === "models" ? "model" : "policy"} ${fault}`,
        },
      ];
}

function sourceProblems(
  path: ConfigPath,
  { path: directory, hub, gguf, random, revision }: NonNullable<ConfigInput["model"]>,
): ConfigProblem[] {
  const given = [directory, hub, gguf, random].filter((source) => source !== undefined);
  if (given.length !== 1) {
    const text = `${showPath(path)}: give one of \`path\` (a directory), \`hub\` (of the Hugging Face Hub), \`gguf\` (a file) and \`random\` (random weights)`;
    return [{ path, at: "key", text }];
  }
  return revision !== undefined && hub === undefined
    ? [{ path: [...path, "revision"], at: "key", text: `${showPath([...path, "revision"])} is for \`hub\`` }]
    : [];
}

/** Returns the paths of a matrix of shared rewards and of its rows. */
function sharingPaths(path: ConfigPath, written: unknown): ConfigPath[] {
  return [path, ...Object.keys(valueAt(written, path) ?? {}).map((role) => [...path, role])];
}

/** Finds the key `__proto__`, which the parser of the schema drops. */
function droppedRoles(path: ConfigPath, written: unknown): ConfigProblem[] {
  const roles = valueAt(written, path);
  return typeof roles === "object" && roles !== null && Object.hasOwn(roles, "__proto__")
    ? [{ path: [...path, "__proto__"], at: "key", text: `${showPath(path)}: "__proto__" is no role` }]
    : [];
}

function environmentProblems(
  path: ConfigPath,
  { players, sides }: EnvironmentInput,
  policies: readonly string[],
): ConfigProblem[] {
  if (players === undefined && policies.length > 1)
    return [
      {
        path,
        at: "value",
        text: `${showPath(path)}: this run trains several policies (${policies.map(quoted).join(", ")}): state under \`players\` which one plays each role`,
      },
    ];
  if (players === undefined)
    return sides === "shuffle"
      ? [
          {
            path: [...path, "sides"],
            at: "key",
            text: `${showPath([...path, "sides"])} has no effect: one policy plays every role, since there are no \`players\``,
          },
        ]
      : [];
  return Object.entries(players).flatMap(([role, player]) =>
    playerProblems([...path, "players", role], player, policies),
  );
}

function playerProblems(path: ConfigPath, player: PlayerInput, policies: readonly string[]): ConfigProblem[] {
  if (typeof player === "string") return unknownPolicy(path, player, policies);
  // `model` names the model of an endpoint.
  const kinds = (["policy", "model", "scripted", "endpoint"] as const).filter(
    (kind) => player[kind] !== undefined && !(kind === "model" && player.endpoint !== undefined),
  );
  const at = (text: string): ConfigProblem => ({ path, at: "value", text: `${showPath(path)}: ${text}` });
  if (kinds.length !== 1) return [at("give exactly one of `policy`, `model`, `scripted` and `endpoint`")];
  const [kind] = kinds;
  const useless = (key: "options" | "api_key_env" | "past", isUsed: boolean, owner: string): ConfigProblem[] =>
    player[key] === undefined || isUsed
      ? []
      : [{ path: [...path, key], at: "key", text: `${showPath([...path, key])} has no effect: only ${owner}` }];
  return [
    ...(player.policy === undefined ? [] : unknownPolicy([...path, "policy"], player.policy, policies)),
    ...(kind === "endpoint" && player.model === undefined ? [at("`endpoint` needs `model`, its name there")] : []),
    ...useless("options", kind === "scripted" || kind === "endpoint", "a scripted policy or an endpoint has options"),
    ...useless("past", kind === "policy", "a policy of this run has earlier versions"),
    ...useless("api_key_env", kind === "endpoint", "an endpoint has a key"),
  ];
}

function unknownPolicy(path: ConfigPath, name: string, policies: readonly string[]): ConfigProblem[] {
  if (policies.includes(name)) return [];
  const advice = didYouMean(name, policies) || ` Policies: ${policies.join(", ")}.`;
  return [
    {
      path,
      at: "value",
      text: `${showPath(path)}: there is no policy ${quoted(name)}.${advice} A scripted policy is named by \`{ scripted: NAME }\`, a frozen model by \`{ model: PATH }\``,
    },
  ];
}

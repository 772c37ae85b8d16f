import { didYouMean, quoted } from "../names/nearest.ts";
import { type ConfigProblem, showPath } from "./config-problems.ts";
import type { ConfigInput } from "./schema.ts";
import { DEFAULT_POLICY } from "./sections/environments.ts";
import type { ConfigPath } from "./source-text.ts";

type StageInput = NonNullable<ConfigInput["stages"]>[number];

/** Keys of a stage that are no options of its algorithm. */
const KEYS = ["algorithm", "learners", "name", "sampling", "until", "curriculum", "options"];

/** Finds faults of the learners of stages that need no plugin. */
export function learnerProblems({ policies, stages = [] }: ConfigInput): ConfigProblem[] {
  const names = policies === undefined ? [DEFAULT_POLICY] : Object.keys(policies);
  return stages.flatMap((stage, i) => [
    ...formProblems(["stages", i], stage, names),
    ...[
      [["stages", i], stage] as const,
      ...Object.entries(stage.learners ?? {}).map(([name, each]) => [["stages", i, "learners", name], each] as const),
    ].flatMap(([path, learner]) => twiceProblems(path, learner)),
  ]);
}

function formProblems(path: ConfigPath, stage: StageInput, policies: readonly string[]): ConfigProblem[] {
  const { algorithm, learners } = stage;
  const at = (key: string, text: string): ConfigProblem => ({ path: [...path, key], at: "key", text });
  if (learners === undefined) {
    if (algorithm === undefined)
      return [{ path, at: "value", text: `${showPath(path)}: give an \`algorithm\`, or \`learners\` by policy` }];
    // A run without policies has been refused.
    if (policies.length <= 1) return [];
    const text = `this run trains several policies (${policies.map(quoted).join(", ")}): name the one that learns, \`learners: { ${policies[0]}: { algorithm: ${algorithm} } }\``;
    return [at("algorithm", text)];
  }
  const beside = Object.keys(stage).filter((key) => key === "algorithm" || key === "options" || !KEYS.includes(key));
  const unknown = Object.keys(learners).filter((name) => !policies.includes(name));
  return [
    ...beside.map((key) => at(key, `${quoted(key)} is of one learner: it belongs into an entry of \`learners\``)),
    ...(Object.keys(learners).length === 0 ? [at("learners", "`learners` has no entry")] : []),
    ...unknown.map((name): ConfigProblem => {
      const advice = didYouMean(name, policies) || ` Policies: ${policies.join(", ")}.`;
      return { path: [...path, "learners", name], at: "key", text: `there is no policy ${quoted(name)}.${advice}` };
    }),
  ];
}

/** Finds options that are given beside `options` and in it. */
function twiceProblems(path: ConfigPath, { options = {}, ...inline }: Pick<StageInput, "options">): ConfigProblem[] {
  return Object.keys(inline)
    .filter((key) => !KEYS.includes(key) && Object.hasOwn(options, key))
    .map((key) => ({
      path: [...path, key],
      at: "key",
      text: `"${key}" is given both beside \`options\` and in it: leave one of them out`,
    }));
}

import type { Check } from "../check/check.ts";
import { Defect } from "../check/defect.ts";
import type { PackageSubject } from "../check/package-subject.ts";

/** Kinds of provisions whose checks need examples. */
const EXAMPLE_KINDS = ["scorers", "judges", "tools", "policies", "algorithms"] as const;

/** Kind of provisions whose checks need examples. */
export type ExampleKind = (typeof EXAMPLE_KINDS)[number];

/** Checks of the examples of a plugin as a whole. */
export const exampleChecks: readonly Check<Pick<PackageSubject, "plugin">>[] = [
  {
    code: "EXAMPLES_INVALID",
    name: "has examples of its provisions only",
    run: async ({ plugin }) => {
      const { examples = {} } = plugin;
      const provided: Readonly<Record<ExampleKind, readonly string[]>> = {
        scorers: idsOf(plugin.scorers),
        judges: idsOf(plugin.judges),
        tools: idsOf(plugin.tools),
        policies: idsOf(plugin.policies),
        algorithms: (plugin.algorithms ?? []).map(({ id }) => id),
      };
      return EXAMPLE_KINDS.flatMap((kind) =>
        idsOf(examples[kind])
          .filter((id) => !provided[kind].includes(id))
          .map(
            (id) =>
              new Defect("EXAMPLES_INVALID", `\`examples.${kind}\` has "${id}", which the plugin does not provide.`, {
                about: id,
              }),
          ),
      );
    },
  },
];

/** Returns the ids of the provisions, or of the examples, of a kind. */
export function idsOf(byId: Readonly<Record<string, unknown>> = {}): string[] {
  return Object.keys(byId);
}

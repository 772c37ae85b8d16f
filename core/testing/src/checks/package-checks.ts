import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "../check/check.ts";
import { Defect } from "../check/defect.ts";
import type { PackageSubject } from "../check/package-subject.ts";

/** Keyword by which `mrlm plugins search` finds packages. */
const KEYWORD = "mrlm-plugin";

/** Checks of a plugin's package. Its manifest was compared with what it exports when it was imported. */
export const packageChecks: readonly Check<PackageSubject>[] = [
  {
    code: "KEYWORD_MISSING",
    name: "has the keyword by which plugins are found",
    run: async ({ packageJson: { keywords } }) => {
      if (!Array.isArray(keywords) || !keywords.includes(KEYWORD))
        throw new Defect("KEYWORD_MISSING", `\`keywords\` of the package.json does not have "${KEYWORD}".`);
    },
  },
  {
    code: "NAME_DIFFERS",
    name: "the plugin has the name of its package",
    run: async ({ packageJson: { name }, plugin }) => {
      if (typeof name === "string" && plugin.name !== name)
        throw new Defect("NAME_DIFFERS", `The package is ${name}, and its default export is named "${plugin.name}".`, {
          about: plugin.name,
        });
    },
  },
  {
    code: "DESCRIPTION_INVALID",
    name: "describes what it provides",
    run: async ({ plugin: { environments = [], algorithms = [] } }) =>
      [...environments, ...algorithms]
        .filter(({ description }) => typeof description !== "string" || description.trim() === "")
        .map(({ id }) => new Defect("DESCRIPTION_INVALID", `${id} has no description.`, { about: id })),
  },
  {
    code: "EXAMPLE_DESCRIBED",
    name: "is described by its README, not the example from which it was made",
    run: async ({ directory, plugin: { environments = [], algorithms = [] } }) => {
      const path = join(directory, "README.md");
      const [, example] = /^<!-- example: (.*) -->$/m.exec(existsSync(path) ? readFileSync(path, "utf8") : "") ?? [];
      if (example !== undefined && ![...environments, ...algorithms].some(({ description }) => description === example))
        throw new Defect(
          "EXAMPLE_DESCRIBED",
          `README.md is of the example "${example}", which the plugin no longer has.`,
        );
    },
  },
];

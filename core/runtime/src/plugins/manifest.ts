import { MrlmError, PLUGIN_API_VERSION, type PluginManifest } from "@mrlm/spec";
import { z } from "zod";

const KINDS = ["environment", "scorer", "judge", "sandbox", "tool", "policy", "algorithm", "engine", "tracker"];
const VERSIONED_KINDS = new Set(["environment", "scorer", "judge", "tool", "policy", "algorithm", "engine"]);

const provision = z.string().refine(isProvision, {
  error: 'must be KIND:NAME with a version where the kind has one: "environment:math@1", "sandbox:python"',
});
const requirement = z
  .string()
  .regex(
    /^(scorer|judge|sandbox|tool):[a-z][a-z0-9-]*(@[1-9][0-9]*)?$/,
    "must be scorer:NAME, judge:NAME, sandbox:LANGUAGE or tool:NAME",
  );

const manifestSchema = z.strictObject({
  apiVersion: z.number(),
  entry: z.string().startsWith("./", 'must be a path within the package that starts with "./"'),
  provides: z.array(provision).min(1, "must name at least one thing"),
  requires: z.array(requirement).optional(),
});

/** Checks the `mrlm` field of a package.json: first the api version, then the form. */
export function parseManifest(packageName: string, field: unknown): PluginManifest {
  const version =
    typeof field === "object" && field !== null ? (field as { apiVersion?: unknown }).apiVersion : undefined;
  if (version !== PLUGIN_API_VERSION) {
    const declared =
      version === undefined
        ? "declares no apiVersion"
        : `was made for version ${JSON.stringify(version)} of the plugin interface`;
    const hint =
      typeof version === "number" && version > PLUGIN_API_VERSION
        ? "Update mrlm."
        : `Update ${packageName}, or remove it.`;
    throw new MrlmError(
      "PLUGIN_API_VERSION",
      `Plugin ${packageName} ${declared}; this mrlm supports version ${PLUGIN_API_VERSION}.`,
      { hint },
    );
  }
  const result = manifestSchema.safeParse(field);
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `${["mrlm", ...issue.path].join(".")}: ${issue.message}`);
    throw new MrlmError(
      "PLUGIN_INVALID",
      `The manifest of plugin ${packageName} is malformed: ${problems.join("; ")}.`,
      {
        hint: `Correct the "mrlm" field in the package.json of ${packageName}; docs/guides/plugins.md shows its form.`,
      },
    );
  }
  return result.data as PluginManifest;
}

function isProvision(text: string): boolean {
  const match = /^([a-z]+):([a-z][a-z0-9-]*)(@[1-9][0-9]*)?$/.exec(text);
  if (match === null || !KINDS.includes(match[1] as string)) return false;
  return VERSIONED_KINDS.has(match[1] as string) === (match[3] !== undefined);
}

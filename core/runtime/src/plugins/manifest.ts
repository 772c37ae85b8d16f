import { VERSION } from "@mrlm/kit/service";
import { MrlmError } from "@mrlm/spec";
import { PLUGIN_API_VERSION, type PluginManifest } from "@mrlm/spec/host";
import { gtr, satisfies, validRange } from "semver";
import { z } from "zod";

const KINDS = [
  "environment",
  "scorer",
  "judge",
  "sandbox",
  "tool",
  "workspace",
  "policy",
  "sampler",
  "algorithm",
  "engine",
  "tracker",
  "launcher",
  "store",
];
const VERSIONED_KINDS = new Set(["environment", "scorer", "judge", "tool", "policy", "sampler", "algorithm", "engine"]);

const provision = z.string().refine(isProvision, {
  error: 'must be KIND:NAME with a version where the kind has one: "environment:math@2", "sandbox:python"',
});
const requirement = z
  .string()
  .regex(
    /^(scorer|judge|sandbox|tool|workspace):[a-z][a-z0-9-]*(@[1-9][0-9]*)?$/,
    "must be scorer:NAME, judge:NAME, sandbox:LANGUAGE, tool:NAME or workspace:PLATFORM",
  );

const manifestSchema = z
  .strictObject({
    apiVersion: z.number(),
    entry: z.string().startsWith("./", 'must be a path within the package that starts with "./"'),
    provides: z.array(provision).min(1, "must name at least one thing"),
    requires: z.array(requirement).optional(),
    supersedes: z.record(z.string(), z.string().min(1)).optional(),
  })
  .superRefine(({ provides, supersedes = {} }, context) => {
    for (const former of Object.keys(supersedes))
      if (!provides.some((id) => supersedesVersion(id, former)))
        context.addIssue({
          code: "custom",
          path: ["supersedes", former],
          message: "must be a lower version of one that it provides",
        });
  });

/** Package of a manifest. */
export interface ManifestOwner {
  readonly name: string;
  /** Range of versions of `@mrlm/spec` that the package requires, from its `peerDependencies`. */
  readonly specRange?: string | undefined;
}

/**
 * Checks the `mrlm` field of a package.json: first the versions, then the form, so that a plugin for a newer mrlm with kinds or keys that this one does not
 * know is reported as what it is.
 * @throws PLUGIN_API_VERSION, PLUGIN_INVALID
 */
export function parseManifest({ name: packageName, specRange }: ManifestOwner, field: unknown): PluginManifest {
  assertApiVersion(packageName, field);
  if (specRange !== undefined) assertSpecRange(packageName, specRange);
  const result = manifestSchema.safeParse(field);
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `${["mrlm", ...issue.path].join(".")}: ${issue.message}`);
    throw new MrlmError(
      "PLUGIN_INVALID",
      `The manifest of plugin ${packageName} is malformed: ${problems.join("; ")}.`,
      {
        hint: `Correct the "mrlm" field in the package.json of ${packageName}; docs/build/plugins.md shows its form.`,
      },
    );
  }
  return result.data as PluginManifest;
}

function assertApiVersion(packageName: string, field: unknown): void {
  const version =
    typeof field === "object" && field !== null ? (field as { apiVersion?: unknown }).apiVersion : undefined;
  if (version === PLUGIN_API_VERSION) return;
  const declared =
    version === undefined
      ? "declares no apiVersion"
      : `was made for version ${JSON.stringify(version)} of the plugin interface`;
  const isNewer = typeof version === "number" && version > PLUGIN_API_VERSION;
  throw new MrlmError(
    "PLUGIN_API_VERSION",
    `Plugin ${packageName} ${declared}; this mrlm (${VERSION}) supports version ${PLUGIN_API_VERSION}.`,
    { hint: isNewer ? updateOf("@mrlm/cli") : `${updateOf(packageName)} Or remove it.` },
  );
}

/** Compares the version of this mrlm with the range that a plugin requires. A range that is no range of versions (`workspace:*`, a path) is not compared. */
function assertSpecRange(packageName: string, specRange: string): void {
  const range = validRange(specRange);
  if (range === null || satisfies(VERSION, range, { includePrerelease: true })) return;
  const isNewer = !gtr(VERSION, range);
  throw new MrlmError(
    "PLUGIN_API_VERSION",
    `Plugin ${packageName} requires @mrlm/spec ${specRange}; this mrlm has ${VERSION}.`,
    { hint: isNewer ? updateOf("@mrlm/cli") : `${updateOf(packageName)} Or remove it.` },
  );
}

function updateOf(packageName: string): string {
  return `Update ${packageName === "@mrlm/cli" ? "mrlm" : packageName}: \`npm install ${packageName}@latest\`.`;
}

/** Whether a provision is a higher version of another: `scorer:math@2` of `scorer:math@1`. */
function supersedesVersion(id: string, former: string): boolean {
  const [name, version] = id.split("@");
  const [formerName, formerVersion] = former.split("@");
  return isProvision(former) && name === formerName && Number(version) > Number(formerVersion);
}

function isProvision(text: string): boolean {
  const match = /^([a-z]+):([a-z][a-z0-9-]*)(@[1-9][0-9]*)?$/.exec(text);
  if (match === null || !KINDS.includes(match[1] as string)) return false;
  return VERSIONED_KINDS.has(match[1] as string) === (match[3] !== undefined);
}

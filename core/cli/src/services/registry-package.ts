import { parseManifest, PROVIDERS } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import { nearestName, type PluginManifest } from "@mrlm/spec/host";
import { queryNpm } from "./npm.ts";

/** Version of a plugin in the registry. */
export interface RegistryPackage {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly manifest: PluginManifest;
  /** Time at which this version, and the first one, were published, in ISO 8601; `undefined` where the registry does not state it. */
  readonly published: string | undefined;
  readonly firstPublished: string | undefined;
  /** Whether the registry has a signed statement of the build that made the package. */
  readonly hasProvenance: boolean;
  /** Scripts that its installation would run. */
  readonly installScripts: readonly string[];
  /** Name of a known package that differs by a few letters. */
  readonly similarTo: string | undefined;
}

/** Fields of `npm view`. */
interface ViewedPackage {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly mrlm?: unknown;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly time?: Readonly<Record<string, string>>;
  readonly dist?: { readonly attestations?: unknown };
}

/** Name of a package, with a version, range or tag after `@`. */
const REGISTRY_SPEC = /^(@[\w~-][\w.~-]*\/)?\w[\w.~-]*(@[^/:\\]+)?$/;

const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall"];

/**
 * Reads what the registry states about a package, without downloading its code.
 * @param spec name, or name and version: `mrlm-chess`, `mrlm-chess@1.2.0`
 * @throws USAGE for a path or an address, PLUGIN_NOT_FOUND, PLUGIN_INVALID, PLUGIN_API_VERSION, NPM_FAILED
 */
export async function viewPackage(spec: string, directory: string): Promise<RegistryPackage> {
  // npm would describe a folder by its name, and the package of that name in the registry can be another one.
  if (!REGISTRY_SPEC.test(spec) || /\.(tgz|tar|tar\.gz)$/i.test(spec))
    throw new MrlmError("USAGE", `"${spec}" is no name of a package in the registry.`, {
      hint: "Name a package, for example mrlm-chess or @me/mrlm-chess@1.2.0. Install a folder, a tarball or a git address by your package manager.",
    });
  const viewed = await view(spec, directory);
  const { name, version, description = "", mrlm, peerDependencies, scripts = {}, time = {}, dist } = viewed;
  if (mrlm === undefined)
    throw new MrlmError(
      "PLUGIN_INVALID",
      `Package ${name} ${version} is no plugin: its package.json has no "mrlm" field.`,
      {
        hint: "`mrlm plugins search WORDS` finds plugins.",
      },
    );
  const known = new Set(Object.values(PROVIDERS));
  return {
    name,
    version,
    description,
    manifest: parseManifest({ name, specRange: peerDependencies?.["@mrlm/spec"] }, mrlm),
    published: time[version],
    firstPublished: time["created"],
    hasProvenance: dist?.attestations !== undefined,
    installScripts: INSTALL_SCRIPTS.filter((script) => Object.hasOwn(scripts, script)),
    similarTo: known.has(name) ? undefined : nearestName(name, known),
  };
}

async function view(spec: string, directory: string): Promise<ViewedPackage> {
  let result;
  try {
    result = await queryNpm(["view", spec], directory);
  } catch (error) {
    if (!MrlmError.isInstance(error) || !/E404|ETARGET|No match/.test(error.message)) throw error;
    throw new MrlmError("PLUGIN_NOT_FOUND", `The registry has no package ${spec}.`, {
      hint: "`mrlm plugins search WORDS` finds plugins.",
      cause: error,
    });
  }
  // A range that several versions match is a list.
  const last = Array.isArray(result) ? result.at(-1) : result;
  if (typeof last === "object" && last !== null && "name" in last) return last as ViewedPackage;
  throw new MrlmError("PLUGIN_NOT_FOUND", `The registry has no version of ${spec}.`, {
    hint: "`npm view NAME versions` lists the versions of a package.",
  });
}

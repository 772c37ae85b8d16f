import { MrlmError } from "@mrlm/spec";
import { queryNpm } from "../npm.ts";
import type { Problem } from "./problem.ts";

/** State of a package in the user's registry. */
export interface RegistryState {
  /** Newest version under the tag `latest`; `undefined` for a new package. */
  readonly latest: string | undefined;
  readonly problems: readonly Problem[];
}

/** Package for whose registry is asked. */
interface Published {
  readonly name: string;
  readonly version: string;
  readonly publishConfig?: Readonly<Record<string, string>> | undefined;
}

/** Asks the registry to which npm would publish a package for its versions, and whether it knows the user. Nothing is sent. */
export async function registryState(
  { name, version, publishConfig }: Published,
  directory: string,
): Promise<RegistryState> {
  const problems: Problem[] = [];
  let latest: string | undefined;
  let flags: readonly string[] = [];
  try {
    flags = await registryFlags(name, publishConfig, directory);
    const viewed = (await queryNpm(["view", name, "version", "versions", ...flags], directory)) as {
      version?: string;
      versions?: string | string[];
    };
    latest = viewed.version;
    if ([viewed.versions ?? []].flat().includes(version))
      problems.push({ code: "VERSION_TAKEN", message: `The registry has ${name} ${version} already.` });
  } catch (error) {
    if (!MrlmError.isInstance(error)) throw error;
    // A package that the registry does not have is new.
    if (!/E404/.test(error.message)) problems.push({ code: "REGISTRY_REFUSES", message: error.message });
  }
  // With trusted publishing a workflow has an identity in place of a login.
  if (
    process.env["ACTIONS_ID_TOKEN_REQUEST_URL"] === undefined &&
    problems.every(({ code }) => code !== "REGISTRY_REFUSES")
  )
    await queryNpm(["whoami", ...flags], directory).catch((error: Error) => {
      problems.push({ code: "REGISTRY_REFUSES", message: error.message });
    });
  return { latest, problems };
}

/** `npm publish` reads `publishConfig` and the registry of the scope, `npm whoami` neither. Returns the flags by which all queries reach the same registry. */
async function registryFlags(
  name: string,
  publishConfig: Readonly<Record<string, string>> = {},
  directory: string,
): Promise<string[]> {
  const scope = name.startsWith("@") ? `${name.split("/")[0]}:registry` : undefined;
  const ofScope = scope === undefined ? undefined : (publishConfig[scope] ?? (await npmSettings(directory))[scope]);
  const registry: unknown = ofScope ?? publishConfig["registry"];
  if (typeof registry !== "string") return [];
  return [`--registry=${registry}`, ...(ofScope === undefined ? [] : [`--${scope}=${registry}`])];
}

async function npmSettings(directory: string): Promise<Readonly<Record<string, unknown>>> {
  return (await queryNpm(["config", "list"], directory)) as Readonly<Record<string, unknown>>;
}

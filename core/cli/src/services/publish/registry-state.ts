import { MrlmError } from "@mrlm/spec";
import { queryNpm } from "../npm.ts";
import type { Problem } from "./problem.ts";

/** State of a package in the user's registry. */
export interface RegistryState {
  /** Newest version under the tag `latest`; `undefined` for a new package. */
  readonly latest: string | undefined;
  readonly problems: readonly Problem[];
}

/** Asks the registry for the versions of a package, and whether the user may publish. Nothing is sent. */
export async function registryState(name: string, version: string, directory: string): Promise<RegistryState> {
  const problems: Problem[] = [];
  let latest: string | undefined;
  try {
    const viewed = (await queryNpm(["view", name, "version", "versions"], directory)) as {
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
    await queryNpm(["whoami"], directory).catch((error: Error) => {
      problems.push({ code: "REGISTRY_REFUSES", message: error.message });
    });
  return { latest, problems };
}

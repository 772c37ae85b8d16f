import { MrlmError } from "@mrlm/spec";
import type { EnvironmentPackage, EpisodeStore } from "@mrlm/spec/host";

/** Packages that provide environments, by the id of the environment. */
type Packages = Readonly<Record<string, EnvironmentPackage>>;

/** Returns a text for each package: its name, its version, and the beginning of the hash of the recorded behaviour. */
export function packageTexts(packages: Packages): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(packages).map(([id, { name, version, behaviour }]) => [
      id,
      `${name} ${version}${behaviour === undefined ? "" : `, behaviour ${behaviour.slice(0, 12)}`}`,
    ]),
  );
}

/**
 * Compares the packages of this process with those that the training process has written to the list of members. Rejects with STORE_CONFLICT where an
 * environment has another package. An environment whose package one side does not know is not compared.
 */
export async function assertSamePackages(store: Pick<EpisodeStore, "members">, own: Packages): Promise<void> {
  const training = (await store.members()).find(({ kind }) => kind === "training");
  const theirs = (training?.capabilities["packages"] ?? {}) as Readonly<Record<string, unknown>>;
  for (const [id, mine] of Object.entries(packageTexts(own)))
    if (theirs[id] !== undefined && theirs[id] !== mine)
      throw new MrlmError(
        "STORE_CONFLICT",
        `Environment ${id} comes from ${mine} here, and from ${String(theirs[id])} in the training process.`,
        { hint: "Install the plugins of the training process here, in the same versions." },
      );
}

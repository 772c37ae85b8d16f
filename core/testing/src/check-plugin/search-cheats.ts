import type { EnvironmentDefinition, Fixture, JsonObject } from "@mrlm/spec";
import type { AnyPlugin } from "../any-plugin.ts";
import { EPISODES } from "../check/attack-options.ts";
import { attackChecks } from "../checks/attack-checks.ts";
import { makeSubject } from "../contract/subject.ts";
import { inProcess } from "../transports.ts";

/** Result of {@link searchCheats}. */
export interface CheatSearch {
  /** Programs that earn without solving, each with the repair. */
  readonly findings: readonly { readonly message: string; readonly fix: string | undefined }[];
  /** The best program that is no finding, or why none was searched. */
  readonly notes: readonly string[];
}

/**
 * Searches, as `mrlm check` does, a program that earns in an environment without solving, under options that its fixtures do not have. The policies of `gold` and
 * `nop` fixtures play under these options; gold need not solve every task.
 * @param plugins those that provide the environment and what it requires
 */
export async function searchCheats(
  plugins: readonly AnyPlugin[],
  environment: { readonly id: string; readonly options: JsonObject },
): Promise<CheatSearch> {
  const replaced = plugins.map(({ environments, ...plugin }) => ({
    ...plugin,
    ...(environments && {
      environments: environments.map((each) => (each.id === environment.id ? general(each) : each)),
    }),
  }));
  const subject = await makeSubject(replaced, environment.id, inProcess, environment.options);
  try {
    const notes: string[] = [];
    const [check] = attackChecks({ episodes: EPISODES.check });
    const found = (await check?.run(subject, (text) => notes.push(text))) ?? [];
    return { findings: found.map(({ message, fix }) => ({ message, fix })), notes };
  } finally {
    await subject.close();
  }
}

/** Returns an environment whose fixtures play under any options. Members that a wrapper of the host inherits become its own. */
function general(definition: EnvironmentDefinition): EnvironmentDefinition {
  const members: Record<string, unknown> = {};
  // oxlint-disable-next-line guard-for-in -- inherited members are wanted
  for (const name in definition) members[name] = definition[name as keyof EnvironmentDefinition];
  const fixtures = (definition.fixtures ?? []).flatMap(generalFixture);
  return { ...(members as unknown as EnvironmentDefinition), fixtures };
}

/** Returns a fixture without what holds under its own options alone. */
function generalFixture({ name, kind, policy }: Fixture): Fixture[] {
  return kind === "gold" || kind === "nop" ? [{ name, kind, policy }] : [];
}

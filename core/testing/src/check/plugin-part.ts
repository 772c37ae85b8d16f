import type { AnyPlugin } from "../any-plugin.ts";
import type { Check } from "./check.ts";
import type { PackageSubject } from "./package-subject.ts";
import type { Acknowledgements } from "./run-check.ts";

/** Plugin under check, and what its parts require. */
export interface PluginSubject extends PackageSubject {
  /** The plugin, then those that provide what it requires. */
  readonly plugins: readonly AnyPlugin[];
}

/** Part of a plugin that is checked by itself: its package, an environment, a scorer. */
export interface PluginPart {
  /** `package`, `environment:math@2`, `scorer:math@2`. */
  readonly subject: string;
  /** In the order in which they run. */
  readonly checks: readonly Check<void>[];
  readonly acknowledged?: Acknowledgements | undefined;
}

/** Returns the parts of one kind that a plugin has. */
export type PartsOf = (plugin: PluginSubject) => readonly PluginPart[];

/** Gives each check a subject of its own, which is closed after it. */
export function bindChecks<Subject>(
  checks: readonly Check<Subject>[],
  make: () => Promise<Subject>,
  close: (subject: Subject) => Promise<void> = async () => undefined,
): Check<void>[] {
  return checks.map((check) => ({
    ...check,
    run: async () => {
      const subject = await make();
      try {
        return await check.run(subject);
      } finally {
        await close(subject);
      }
    },
  }));
}

import type { AnyPlugin } from "../any-plugin.ts";
import type { Check } from "./check.ts";
import type { AttackOptions } from "./attack-options.ts";
import type { PackageSubject } from "./package-subject.ts";
import type { Acknowledgements } from "./run-check.ts";

/** Plugin under check, and what its parts require. */
export interface PluginSubject extends PackageSubject {
  /** The plugin, then those that provide what it requires. */
  readonly plugins: readonly AnyPlugin[];
  /** Limits of the search for programs that solve nothing; default: those of a check. */
  readonly attack?: AttackOptions | undefined;
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
  return checks.flatMap((check) => bindTogether([check], make, close));
}

/** Gives checks one subject, where making one takes long. It is closed after the last check, which `quick` may not leave out alone, and after one that finds something, which may have left it in any state. */
export function bindTogether<Subject>(
  checks: readonly Check<Subject>[],
  make: () => Promise<Subject>,
  close: (subject: Subject) => Promise<void>,
): Check<void>[] {
  let shared: Subject | undefined;
  return checks.map((check, index) => ({
    ...check,
    run: async (_, note) => {
      const subject = (shared ??= await make());
      let isSound = false;
      try {
        const found = await check.run(subject, note);
        isSound = found === undefined || found.length === 0;
        return found;
      } finally {
        if (!isSound || index === checks.length - 1) {
          shared = undefined;
          await close(subject);
        }
      }
    },
  }));
}

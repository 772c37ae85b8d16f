import type { Check } from "../check/check.ts";
import type { PackageSubject } from "../check/package-subject.ts";

/** Checks of a plugin's package: manifest, keywords, what it exports. */
export const packageChecks: readonly Check<PackageSubject>[] = [];

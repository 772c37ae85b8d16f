import type { AnyPlugin } from "../any-plugin.ts";

/** Package of a plugin, with its loaded code. */
export interface PackageSubject {
  /** Absolute path of its folder. */
  readonly directory: string;
  /** Content of its package.json. */
  readonly packageJson: Readonly<Record<string, unknown>>;
  /** Its default export. */
  readonly plugin: AnyPlugin;
}

import { bareName } from "../names/versioned.ts";
import { PROVIDERS } from "./provider-table.ts";

/** Returns the package of this project that provides something, whatever its version. */
export function providerOf(kind: string, name: string): string | undefined {
  const provision = `${kind}:${bareName(name)}`;
  return Object.hasOwn(PROVIDERS, provision) ? PROVIDERS[provision] : undefined;
}

/** Returns what a user does to install a provider: the package of this project, else the search for one. Nothing is installed by itself. */
export function installHint(kind: string, name: string): string {
  const own = providerOf(kind, name);
  if (own !== undefined) return `Install the package that provides it: \`npm install ${own}\`.`;
  const bare = bareName(name);
  return `Look for a package that provides it: \`npx mrlm plugins search ${/^[a-z0-9-]+$/.test(bare) ? bare : kind}\`.`;
}

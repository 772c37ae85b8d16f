import { parseVersionedId } from "@mrlm/spec/host";

/**
 * Finds an id (`math@2`), or the newest available version of a name (`math`).
 * @returns `undefined` if there is none
 */
export function resolveVersioned(name: string, offered: Iterable<string>): string | undefined {
  let newest: { id: string; version: number } | undefined;
  for (const id of offered) {
    if (id === name) return id;
    const parsed = parseVersionedId(id);
    if (parsed?.name === name && parsed.version > (newest?.version ?? 0)) newest = { id, version: parsed.version };
  }
  return newest?.id;
}

/** Returns the name of an id without its version: `math` for `math@2` and for `math`. */
export function bareName(id: string): string {
  return id.split("@", 1)[0] as string;
}

/** Returns ids, preceded by their names without versions: `math` is a good suggestion for `mth`, and `math@2` for `mth@1`. */
export function withBareNames(ids: readonly string[]): string[] {
  return [...ids.map(bareName), ...ids];
}

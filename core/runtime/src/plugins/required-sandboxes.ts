import { resolveVersioned } from "../names/versioned.ts";

/** Part of a manifest: what a plugin provides and requires. */
interface Manifest {
  readonly provides: readonly string[];
  readonly requires: readonly string[];
}

/** Returns the languages of the sandboxes that a provision requires by the manifests, directly or through another provision. */
export function requiredSandboxes(entries: readonly Manifest[], provision: string, seen = new Set<string>()): string[] {
  const [kind, name] = provision.split(/:(.*)/s, 2) as [string, string];
  if (kind === "sandbox") return [name];
  const prefix = `${kind}:`;
  const offered = entries.flatMap(({ provides }) => provides.filter((id) => id.startsWith(prefix)));
  const id = resolveVersioned(
    name,
    offered.map((each) => each.slice(prefix.length)),
  );
  if (id === undefined || seen.has(prefix + id)) return [];
  seen.add(prefix + id);
  const entry = entries.find(({ provides }) => provides.includes(prefix + id));
  return [...new Set((entry?.requires ?? []).flatMap((each) => requiredSandboxes(entries, each, seen)))];
}

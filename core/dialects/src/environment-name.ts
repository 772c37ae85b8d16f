/** Finds an environment by its id, or by its name without a version, which means the newest one. */
export function environmentIn(environments: readonly string[], name: string): string | undefined {
  if (environments.includes(name)) return name;
  const versions = environments.filter((id) => id.slice(0, id.lastIndexOf("@")) === name);
  return versions.toSorted((one, other) => versionOf(other) - versionOf(one))[0];
}

function versionOf(id: string): number {
  return Number(id.slice(id.lastIndexOf("@") + 1));
}

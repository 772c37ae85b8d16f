import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../../../", import.meta.url);

/** Returns src/plugins/provider-table.ts: the packages of this repository by what their manifests provide. */
export function providerTable(): string {
  const rows = ["algorithms", "environments", "plugins"].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root)).flatMap((name) =>
      provisions(new URL(`${folder}/${name}/package.json`, root)),
    ),
  );
  // Of two packages that provide the same, the one that needs no engine of containers is suggested.
  const lines = [...new Map(rows.sort(([, one], [, other]) => (one < other ? -1 : 1)))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([provision, name]) => `  "${provision}": "${name}",`);
  return `// Generated from the manifests of the packages by \`npm run gen -w @mrlm/runtime\`. Do not edit.

/** Packages of this project by kind and name of what they provide. Errors suggest only these, because any other package may be of an unknown author. */
export const PROVIDERS: Readonly<Record<string, string>> = {
${lines.join("\n")}
};
`;
}

function provisions(url: URL): [provision: string, packageName: string][] {
  let manifest;
  try {
    manifest = JSON.parse(readFileSync(url, "utf8")) as { name: string; mrlm?: { provides: string[] } };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || (error as NodeJS.ErrnoException).code === "ENOTDIR")
      return [];
    throw error;
  }
  const { name, mrlm } = manifest;
  return (mrlm?.provides ?? []).map((provision) => [provision.split("@")[0] ?? provision, name]);
}

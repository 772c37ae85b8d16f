import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { MrlmError } from "@mrlm/spec";
import { nearestName } from "@mrlm/spec/host";
import type { ProjectName } from "./project-name.ts";

/** Kinds of projects, and what each creates. */
export const KINDS = {
  environment: "a task world with reset and step",
  tool: "functions that a policy calls, and an environment that offers them",
  judge: "a grader of conversations, and an environment that asks it",
  scorer: "a grader of answers, and an environment that asks it",
  policy: "a player without a model, and an environment in which it plays",
  algorithm: "a training algorithm, tested with a small model",
  "harbor-task": "a task of a shell with its tests, in Harbor's format: a folder, and no package",
} as const;

/** Kind of a project. */
export type Kind = keyof typeof KINDS;

/** Returns a kind by its name. Throws USAGE. */
export function kindOf(name: string): Kind {
  if (Object.hasOwn(KINDS, name)) return name as Kind;
  throw new MrlmError("USAGE", `"${name}" is no kind of project.${similarKind(name)}`, {
    hint: `The kinds are ${Object.keys(KINDS).join(", ")}.`,
  });
}

/** Returns ` Did you mean the kind "environment"?`, or an empty text for a name that is close to no kind. */
export function similarKind(name: string): string {
  const nearest = nearestName(name, Object.keys(KINDS));
  return nearest === undefined ? "" : ` Did you mean the kind "${nearest}"?`;
}

/** Names that npm would leave out of a package, or read, are written with an underscore in place of the dot or before the name. */
const RENAMED: Readonly<Record<string, string>> = {
  _gitignore: ".gitignore",
  _npmrc: ".npmrc",
  "_package.json": "package.json",
};

/** Returns the files of a template, and those of all templates, by their paths in the project, with the names of the project in them. */
export function templateFiles(kind: Kind, { packageName, id }: ProjectName): Map<string, string> {
  const own = filesOf(kind);
  const files = new Map([...(own.some(([path]) => path === "package.json") ? filesOf("common") : []), ...own]);
  // In one pass: the name of a package can contain `my-environment` itself.
  const placeholder = new RegExp(`(mrlm-)?my-${kind}`, "g");
  for (const [path, text] of files)
    files.set(
      path,
      text.replace(placeholder, (_match, isPackage?: string) => (isPackage === undefined ? id : packageName)),
    );
  return files;
}

function filesOf(template: string): [path: string, text: string][] {
  const folder = join(templatesFolder(), template);
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = relative(folder, join(entry.parentPath, entry.name));
    if (!entry.isFile() || /^(node_modules|dist|runs)[\\/]/.test(path)) return [];
    const renamed = path.split(sep).map((part) => RENAMED[part] ?? part);
    return [[renamed.join("/"), readFileSync(join(folder, path), "utf8")]];
  });
}

/** Returns the folder of the templates: that of the package, else that of the repository in which it is developed. */
function templatesFolder(): string {
  const places = ["../templates", "../../../templates"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return places.find((place) => existsSync(join(place, "environment", "_package.json"))) ?? (places[0] as string);
}

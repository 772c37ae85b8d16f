import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { MrlmError } from "@mrlm/spec";
import { completePackageJson } from "./package-json.ts";
import { type PackageManager } from "./package-manager.ts";
import { localSource, registrySource } from "./package-source.ts";
import type { ProjectName } from "./project-name.ts";
import { assertTarget, writeProject } from "./target-folder.ts";
import { type Kind, templateFiles } from "./templates.ts";

export interface ProjectRequest {
  readonly kind: Kind;
  readonly name: ProjectName;
  /** Folder in which the folder of the project is made. */
  readonly directory: string;
  readonly manager: PackageManager;
  /** Clone of the repository or folder of tarballs, in place of the registry. */
  readonly from?: string | undefined;
  /** Whether the folder may hold other files, which stay as they are. */
  readonly merge?: boolean | undefined;
  /** Whether to install the packages. */
  readonly install?: boolean | undefined;
}

export interface Project {
  readonly folder: string;
  readonly files: readonly string[];
  /** Files that existed and stay as they are. */
  readonly kept: readonly string[];
}

/** Creates a project. Throws USAGE or OUTPUT_INVALID before it writes anything, and CHILD_FAILED if the installation fails. */
export async function createProject(request: ProjectRequest): Promise<Project> {
  const { kind, name, manager, from, merge = false, install = false } = request;
  const folder = resolve(request.directory, name.folder);
  const source = from === undefined ? registrySource(ownVersion()) : localSource(from, manager);
  assertTarget(folder, merge);
  const files = templateFiles(kind, name);
  const packageJson = files.get("package.json");
  if (packageJson !== undefined) {
    const completed = completePackageJson(packageJson, { source, manager });
    assertNoDependency(name.packageName, completed);
    files.set("package.json", completed);
  }
  const { kept } = writeProject(folder, files);
  if (install && packageJson !== undefined) await installPackages(folder, manager);
  return { folder, files: [...files.keys()].sort(), kept };
}

/** Throws USAGE for the name of a package that the project needs: package managers install none into itself. */
function assertNoDependency(name: string, packageJson: string): void {
  const { dependencies, devDependencies, peerDependencies } = JSON.parse(packageJson) as Record<string, object>;
  if (!Object.hasOwn({ ...dependencies, ...devDependencies, ...peerDependencies }, name)) return;
  throw new MrlmError("USAGE", `"${name}" is the name of a package that the project needs.`, {
    hint: `Use another name: mrlm-${name.slice(name.indexOf("/") + 1)}.`,
  });
}

/** Installs the packages with the output of the package manager on stderr. */
async function installPackages(folder: string, manager: PackageManager): Promise<void> {
  const child = spawn(manager, ["install"], { cwd: folder, stdio: ["inherit", 2, "inherit"] });
  const code = await once(child, "exit").then(
    ([exitCode]: unknown[]) => exitCode,
    (error: Error) => error,
  );
  if (code === 0) return;
  throw new MrlmError(
    "INSTALL_FAILED",
    `\`${manager} install\` ${code instanceof Error ? `could not be started: ${code.message}` : `ended with code ${code}`} in ${folder}.`,
    { hint: "The project is complete. Read the output above, and install its packages again." },
  );
}

function ownVersion(): string {
  const path = join(import.meta.dirname, "..", "package.json");
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
}

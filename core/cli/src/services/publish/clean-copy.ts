import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "@mrlm/process";
import type { Problem } from "./problem.ts";
import { type PackedFile, readTarball } from "./tarball.ts";

const execute = promisify(execFile);

/** Package that was built and packed from a copy of the files that git knows. */
export interface PackedCopy {
  /** Folder of the copy, with what the build made. */
  readonly directory: string;
  /** Path of the tarball. */
  readonly tarball: string;
  readonly files: readonly PackedFile[];
  remove(): void;
}

/** Returns what git states about the files of a package; `undefined` outside of a repository. */
export async function gitFiles(
  directory: string,
): Promise<{ readonly files: readonly string[]; readonly changed: readonly string[] } | undefined> {
  const git = async (...args: string[]): Promise<string[]> =>
    (await execute("git", args, { cwd: directory, maxBuffer: 2 ** 26 })).stdout
      .split("\0")
      .filter((line) => line !== "");
  try {
    const files = await git("ls-files", "-z", "--cached", "--others", "--exclude-standard");
    const changed = (await git("status", "--porcelain", "--untracked-files=all", "-z", "--", ".")).map((line) =>
      line.slice(3),
    );
    return { files, changed };
  } catch {
    return undefined;
  }
}

/**
 * Builds and packs a package in a copy of its files, with the packages that are installed for it. Files that git ignores, such as an old build, are not in
 * the copy; outside of a repository all files but `dist` and `node_modules` are.
 */
export async function packCleanCopy(
  directory: string,
  known: readonly string[] | undefined,
): Promise<PackedCopy | Problem> {
  const { path: place, remove } = temporaryFolder("publish");
  const copy = join(place, "package");
  try {
    if (known === undefined)
      cpSync(directory, copy, {
        recursive: true,
        filter: (path) => !/[\\/](node_modules|dist|runs|\.git)$/.test(path),
      });
    else
      for (const file of known.filter((name) => existsSync(join(directory, name)))) {
        mkdirSync(dirname(join(copy, file)), { recursive: true });
        cpSync(join(directory, file), join(copy, file));
      }
    const modules = installedModules(directory);
    if (modules !== undefined) symlinkSync(modules, join(copy, "node_modules"));
    const { scripts = {} } = JSON.parse(readFileSync(join(copy, "package.json"), "utf8")) as {
      scripts?: Record<string, string>;
    };
    const run = (...args: string[]) => execute("npm", args, { cwd: copy, maxBuffer: 2 ** 26 });
    if (scripts["build"] !== undefined) await run("run", "--silent", "build");
    const { stdout } = await run("pack", "--json", "--loglevel=error", "--pack-destination", place);
    const tarball = join(place, filenameOf(stdout));
    return { directory: copy, tarball, files: readTarball(readFileSync(tarball)), remove };
  } catch (error) {
    remove();
    const { stderr = "", stdout = "", message } = error as Error & { stdout?: string; stderr?: string };
    const output = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("npm "));
    return {
      code: "BUILD_FAILED",
      message: `The package could not be built and packed: ${output.slice(0, 5).join(" | ") || message}`,
    };
  }
}

/** Returns the nearest folder of installed packages. */
function installedModules(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, "node_modules"))) return join(at, "node_modules");
    if (dirname(at) === at) return undefined;
  }
}

/** npm prints an array of packages, or from version 11 on an object by package name; a build may print before it. */
function filenameOf(stdout: string): string {
  const report = JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as
    | { filename: string }[]
    | Record<string, { filename: string }>;
  const [packed] = Array.isArray(report) ? report : Object.values(report);
  return (packed as { filename: string }).filename;
}

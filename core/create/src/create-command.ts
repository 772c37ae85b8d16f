import { relative } from "node:path";
import { answers, type Given } from "./ask.ts";
import { createProject, type Project } from "./create-project.ts";
import { callingPackageManager, type PackageManager, scriptCommand } from "./package-manager.ts";
import type { Kind } from "./templates.ts";

/** Arguments of `create-mrlm` and of `mrlm create`. */
export interface CreateArguments extends Given {
  readonly from?: string | undefined;
  readonly merge?: boolean | undefined;
  readonly install?: boolean | undefined;
}

/** Result of the command. */
export interface Created extends Project {
  readonly kind: Kind;
  readonly id: string;
  /** Report for a person: what was made, and the next commands. */
  readonly report: string;
}

/** Creates the project that the arguments name, and describes it. */
export async function create(args: CreateArguments, directory: string): Promise<Created> {
  const { kind, name } = await answers(args);
  const manager = callingPackageManager();
  const { from, merge, install } = args;
  const project = await createProject({ kind, name, directory, manager, from, merge, install });
  const { packageName } = name;
  const report = reportOf(project, { kind, packageName, manager, directory, install: install === true });
  return { ...project, kind, id: name.id, report };
}

function reportOf(
  { folder, files, kept }: Project,
  {
    kind,
    packageName,
    manager,
    directory,
    install,
  }: { kind: Kind; packageName: string; manager: PackageManager; directory: string; install: boolean },
): string {
  const place = relative(directory, folder);
  const run = (script: string): string => scriptCommand(manager, script);
  return [
    `created ${kind} in ${place}: ${files.length - kept.length} files`,
    ...(/^@mrlm\/|^(create-)?mrlm$/.test(packageName)
      ? [`note: ${packageName} is a name of mrlm itself: to publish the package, give it another one`]
      : []),
    ...(kept.length === 0 ? [] : [`kept as they were: ${kept.join(", ")}`]),
    "",
    "Next:",
    `  cd ${place}`,
    ...(install ? [] : [`  ${manager} install`]),
    `  ${run("test").padEnd(20)} # its contract and its own tests`,
    `  ${run("check").padEnd(20)} # all that a published plugin must do`,
    `  ${run("train").padEnd(20)} # train a small model`,
  ].join("\n");
}

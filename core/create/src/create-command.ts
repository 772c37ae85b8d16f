import { relative } from "node:path";
import { cancel, select, text } from "@clack/prompts";
import { MrlmError } from "@mrlm/spec";
import { createProject, type Project } from "./create-project.ts";
import { callingPackageManager, type PackageManager, scriptCommand } from "./package-manager.ts";
import { type ProjectName, projectName } from "./project-name.ts";
import { type Kind, kindOf, KINDS, similarKind } from "./templates.ts";

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
    ...(files.includes("package.json")
      ? [
          `  cd ${place}`,
          ...(install ? [] : [`  ${manager} install`]),
          `  ${run("test").padEnd(20)} # its contract and its own tests`,
          `  ${run("check").padEnd(20)} # all that a published plugin must do`,
          `  ${run("train").padEnd(20)} # train a small model`,
        ]
      : [`  mrlm check ${place}  # in a project with @mrlm/environment-harbor: plays the task`]),
  ].join("\n");
}

/** Answers that the command line gives. */
interface Given {
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
}

/** Returns kind and name of the project. Asks for what is missing on a terminal; elsewhere, and for wrong values, throws USAGE. */
async function answers(
  given: Given,
  isTerminal = process.stdin.isTTY && process.stdout.isTTY,
): Promise<{ readonly kind: Kind; readonly name: ProjectName }> {
  const known = {
    kind: given.kind === undefined ? undefined : kindOf(given.kind),
    name: given.name === undefined ? undefined : projectName(given.name),
  };
  const missing = known.kind === undefined ? "kind" : known.name === undefined ? "name" : undefined;
  if (missing !== undefined && !isTerminal)
    throw new MrlmError(
      "USAGE",
      `The ${missing} of the project is missing.${missing === "kind" ? similarKind(given.name ?? "") : ""}`,
      {
        hint: `Name both, for example: create environment my-environment. The kinds are ${Object.keys(KINDS).join(", ")}.`,
      },
    );
  return { kind: known.kind ?? (await askKind()), name: known.name ?? (await askName()) };
}

async function askKind(): Promise<Kind> {
  const options = Object.entries(KINDS).map(([value, hint]) => ({ value: value as Kind, label: value, hint }));
  return chosen(await select<Kind>({ message: "Kind of the project", options }));
}

async function askName(): Promise<ProjectName> {
  const validate = (value = ""): string | undefined => {
    try {
      projectName(value);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  return projectName(
    chosen(await text({ message: "Name of its npm package", placeholder: "my-environment", validate })),
  );
}

/** Returns an answer, or throws CANCELLED for the symbol that stands for Ctrl-C. */
function chosen<T>(answer: T): Exclude<T, symbol> {
  if (typeof answer !== "symbol") return answer as Exclude<T, symbol>;
  cancel("No project was created.");
  throw new MrlmError("CANCELLED", "The questions were cancelled.");
}

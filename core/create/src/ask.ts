import { cancel, select, text } from "@clack/prompts";
import { MrlmError } from "@mrlm/spec";
import { type ProjectName, projectName } from "./project-name.ts";
import { type Kind, kindOf, KINDS, similarKind } from "./templates.ts";

/** Answers that the command line gives. */
export interface Given {
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
}

/** Returns kind and name of the project. Asks for what is missing on a terminal; elsewhere, and for wrong values, throws USAGE. */
export async function answers(
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

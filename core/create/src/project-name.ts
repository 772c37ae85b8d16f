import { MrlmError } from "@mrlm/spec";
import validatePackageName from "validate-npm-package-name";

/** Names of a project. */
export interface ProjectName {
  /** Name of the npm package: `mrlm-chess`, `@me/chess`. */
  readonly packageName: string;
  /** Name of the folder: the part of the package name after its scope. */
  readonly folder: string;
  /** Name of what the package provides, without its version: `chess`. */
  readonly id: string;
}

/** Names of devices, which Windows accepts as names of folders in no case and with no ending. */
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/;

/** Parses the name of a project. Throws USAGE for one that npm refuses, one that is no usual name of a folder, or one from which no id follows. */
export function projectName(given: string): ProjectName {
  const { validForNewPackages, errors = [], warnings = [] } = validatePackageName(given);
  if (!validForNewPackages)
    throw new MrlmError(
      "USAGE",
      `"${shown(given)}" is no name for an npm package: ${[...errors, ...warnings].join("; ")}.`,
      {
        hint: "Use lower-case letters, digits and hyphens, at most 214 characters: my-environment, @me/my-environment.",
      },
    );
  const folder = given.slice(given.indexOf("/") + 1);
  const id = folder
    .replace(/^mrlm-/, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^[^a-z]+|-+$/g, "");
  if (/^[-.]/.test(folder))
    throw new MrlmError("USAGE", `"${shown(given)}" names a folder that begins with "${folder[0]}".`, {
      hint: "Begin the name with a letter or a digit: my-environment.",
    });
  if (DEVICE.test(folder))
    throw new MrlmError("USAGE", `"${shown(given)}" names the folder "${folder}", which Windows cannot have.`, {
      hint: `Use another name: ${folder.replace(DEVICE, "$1-environment$2")}.`,
    });
  if (id === "")
    throw new MrlmError("USAGE", `No id follows from "${shown(given)}": an id begins with a letter.`, {
      hint: "Use a name with a letter: my-environment.",
    });
  return { packageName: given, folder, id };
}

function shown(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}...` : name;
}

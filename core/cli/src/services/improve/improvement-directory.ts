import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { asOutputFault, asWriteFailure, writeAtomically } from "@mrlm/runtime";
import { isObject, type JsonObject, MrlmError } from "@mrlm/spec";
import type { CaseFile } from "./inspected-cases.ts";

/** File of the directory with what is improved. */
const RECORD = "improve.json";

/** Model and cases of a directory. */
export interface ImprovementRecord extends CaseFile {
  readonly model: string;
  /** SHA-256 of the cases: `InspectedCases.hash`; `undefined` before they are read. */
  readonly hash: string | undefined;
}

/** Directory of an improvement: its record, configurations, runs and report. */
export class ImprovementDirectory {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Makes a directory `improve-NAME-TIME`. Throws OUTPUT_INVALID. */
  static create(parent: string, record: ImprovementRecord): ImprovementDirectory {
    const stamp = new Date().toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
    const name = basename(record.path).split(".", 1)[0] as string;
    const path = resolve(parent, `improve-${name.replaceAll(/[^\w-]/g, "-")}-${stamp}`);
    try {
      mkdirSync(path, { recursive: true });
    } catch (error) {
      throw asOutputFault(error, `The directory ${path} cannot be made`, "Name another one by --output.");
    }
    const directory = new ImprovementDirectory(path);
    directory.write(RECORD, `${JSON.stringify(record, null, 2)}\n`);
    return directory;
  }

  /** Opens the directory of an improvement. Throws RUN_NOT_FOUND. */
  static open(given: string): { readonly directory: ImprovementDirectory; readonly record: ImprovementRecord } {
    const path = resolve(given);
    const file = join(path, RECORD);
    const record: unknown = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
    if (isObject(record))
      return { directory: new ImprovementDirectory(path), record: record as unknown as ImprovementRecord };
    throw new MrlmError("RUN_NOT_FOUND", `${path} is no directory of an improvement.`, {
      hint: "Name a directory that `mrlm improve` has made.",
    });
  }

  /** Writes a configuration. Returns its path. */
  writeConfig(name: string, config: JsonObject): string {
    return this.write(`${name}.yaml`, `${JSON.stringify(config, null, 2)}\n`);
  }

  /** Writes a file. Returns its path. */
  write(name: string, text: string): string {
    const path = join(this.path, name);
    try {
      writeAtomically(path, text);
    } catch (error) {
      throw asWriteFailure(error, `${path} could not be written`);
    }
    return path;
  }

  /** Returns the newest run of a name; `undefined` before there is one. */
  run(name: string): string | undefined {
    const found = readdirSync(this.path)
      .filter((each) => each.startsWith(`${name}-`))
      .toSorted()
      .at(-1);
    return found === undefined ? undefined : join(this.path, found);
  }
}

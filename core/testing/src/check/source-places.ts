import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Place } from "./finding.ts";
import { locationOf } from "./location-of.ts";

const SOURCE = /(?<!\.d)\.[cm]?[jt]sx?$/;
/** Folders without an author's source. Tests name ids too. */
const SKIPPED = new Set(["node_modules", "test", "tests", "__tests__", "coverage", "fixtures"]);
/** Folders of built code: its lines are not the author's, so they are the last resort. */
const BUILT = new Set(["dist", "build", "lib", "out"]);
const MAX_FILES = 500;
const MAX_BYTES = 2 ** 20;

interface SourceFile {
  readonly file: string;
  readonly lines: readonly string[];
}

/** Finds places in an author's source: by the stack of an error, else by the text of a name or an id. */
export class SourcePlaces {
  readonly #directory: string;
  #files: readonly SourceFile[] | undefined;

  /** @param directory absolute path of the package */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Returns the place of a defect; `undefined` if neither the stack nor the source has it. */
  of({
    error,
    about,
    subject,
  }: {
    readonly error?: unknown;
    readonly about?: string | undefined;
    readonly subject: string;
  }): Place | undefined {
    const id = subject.slice(subject.indexOf(":") + 1);
    return this.#ofStack(error) ?? this.ofText(about) ?? (subject.includes(":") ? this.ofText(id) : undefined);
  }

  /** Returns the first line with this text in quotes, else with the text, outside of tests and dependencies. */
  ofText(text: string | undefined): Place | undefined {
    if (text === undefined || text === "") return undefined;
    const quoted = ['"', "'", "`"].map((quote) => `${quote}${text}${quote}`);
    return (
      this.#find((line) => quoted.some((each) => line.includes(each))) ?? this.#find((line) => line.includes(text))
    );
  }

  /** Returns the innermost frame in the package, of the error or of its causes. The innermost cause is nearest to the defect. */
  #ofStack(error: unknown): Place | undefined {
    if (!(error instanceof Error)) return undefined;
    const inner = this.#ofStack(error.cause);
    if (inner !== undefined) return inner;
    for (const line of (error.stack ?? "").split("\n")) {
      const location = locationOf(line);
      const file = location && this.#relative(location.path);
      if (location !== undefined && file !== undefined) return { file, line: location.line };
    }
    return undefined;
  }

  #relative(path: string): string | undefined {
    const file = relative(this.#directory, path.startsWith("file:") ? fileURLToPath(path) : path);
    const isOutside = file.startsWith("..") || isAbsolute(file);
    return isOutside || file.split(sep).includes("node_modules") ? undefined : file.replaceAll(sep, "/");
  }

  #find(isHere: (line: string) => boolean): Place | undefined {
    this.#files ??= readSources(this.#directory);
    for (const { file, lines } of this.#files) {
      const index = lines.findIndex(isHere);
      if (index >= 0) return { file, line: index + 1 };
    }
    return undefined;
  }
}

/** Reads the source files of a package; built ones only if there are no others. */
export function readSources(directory: string): SourceFile[] {
  const own = [...filesBelow(directory, "", (name) => BUILT.has(name))];
  const files = own.length > 0 ? own : [...filesBelow(directory, "", () => false)];
  return files.slice(0, MAX_FILES).map((file) => ({
    file,
    lines: readFileSync(join(directory, file), "utf8").split("\n"),
  }));
}

function* filesBelow(root: string, folder: string, isLeftOut: (name: string) => boolean): Generator<string> {
  let entries: Dirent[];
  try {
    entries = readdirSync(join(root, folder), { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!SKIPPED.has(entry.name) && !entry.name.startsWith(".") && !isLeftOut(entry.name))
        yield* filesBelow(root, path, isLeftOut);
    } else if (entry.isFile() && SOURCE.test(entry.name) && statSync(join(root, path)).size <= MAX_BYTES) yield path;
  }
}

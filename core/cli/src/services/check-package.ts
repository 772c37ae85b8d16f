import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import {
  asOutputFault,
  behaviourFile,
  type Behaviour,
  compareBehaviour,
  packageDirectory,
  readPluginPackage,
  writeAtomically,
} from "@mrlm/runtime";
import { defined, MrlmError } from "@mrlm/spec";
import { type Finding, type FindingCode, findingOf, type PluginSubject, SourcePlaces } from "@mrlm/testing";
import { queryNpm } from "./npm.ts";
import type { CheckMessage, CheckRequest, ProviderMessage } from "./plugin-check.ts";
import { faultOfEnd, faultOfOutput, type PluginFault } from "./plugin-fault.ts";
import { pluginProcess } from "./plugin-process.ts";

type BehaviourDifference = ReturnType<typeof compareBehaviour>[number];

export interface CheckedPackage {
  readonly directory: string;
  readonly name: string;
  readonly version: string;
  readonly json: PackageJson;
}

interface PackageJson {
  readonly name?: string;
  readonly version?: string;
  readonly private?: boolean;
  readonly files?: readonly string[];
  readonly mrlm?: unknown;
}

/** Options of {@link checkPackage}. */
export interface CheckPackageOptions {
  /** Folder of the project whose other plugins provide what the package requires; default: the package's. */
  readonly project?: string;
  readonly only?: readonly string[];
  readonly quick?: boolean;
  /** Limits of the search for programs that solve nothing; default: those of a check. */
  readonly attack?: PluginSubject["attack"];
  /** Writes the recorded behaviour instead of comparing it. */
  readonly update?: boolean;
  readonly signal?: AbortSignal;
}

/** Finds the package of a folder, or of a name as Node does. Throws PLUGIN_NOT_FOUND, and PLUGIN_INVALID for a package that is no plugin. */
export function findPackage(target: string, from: string): CheckedPackage {
  const isFolder = existsSync(join(from, target, "package.json")) || target === "." || target.startsWith("/");
  const directory = packageDirectory(isFolder && !target.startsWith("/") ? `./${target}` : target, from);
  if (directory === undefined)
    throw new MrlmError(
      "PLUGIN_NOT_FOUND",
      `There is no package ${target === "." ? "in this folder" : `"${target}"`}.`,
      {
        hint: "Name a folder with a package.json, or an installed package.",
      },
    );
  const path = join(directory, "package.json");
  let json: PackageJson;
  try {
    json = JSON.parse(readFileSync(path, "utf8")) as PackageJson;
  } catch (error) {
    throw new MrlmError("PLUGIN_INVALID", `${path} is not JSON: ${(error as Error).message}.`, {
      hint: "Correct it.",
      cause: error,
    });
  }
  const { name = directory, version = "0.0.0" } = json;
  if (json.mrlm === undefined)
    throw new MrlmError("PLUGIN_INVALID", `Package ${name} is no plugin: its package.json has no "mrlm" field.`, {
      hint: "docs/build/plugins.md shows the manifest. Run the command in the folder of a plugin, or name one.",
    });
  return { directory, name, version, json };
}

/** Throws PLUGIN_INVALID for a manifest that cannot be read, and for an entry that `npm pack` leaves out: one outside of the package, or behind a link. */
function assertOwnEntry(directory: string): void {
  const { name, entry } = readPluginPackage(directory) ?? {};
  if (entry === undefined || !existsSync(fileURLToPath(entry))) return;
  const own = relative(directory, fileURLToPath(entry));
  const parts = own.split(sep);
  const paths = parts.map((_, index) => join(directory, ...parts.slice(0, index + 1)));
  const link = paths.find((path) => lstatSync(path).isSymbolicLink());
  if (link === undefined && parts[0] !== "..") return;
  const what =
    link === undefined
      ? `${own}, outside of the package`
      : `${link === paths.at(-1) ? "" : `in ${relative(directory, link)}, `}a link to ${realpathSync(link)}`;
  throw new MrlmError("PLUGIN_INVALID", `The entry of ${name} is ${what}.`, {
    hint: "Put the file itself into the package: npm packs no links, and nothing outside of it.",
  });
}

/**
 * Checks a plugin in a process of its own. Yields progress and findings. If its code ends or blocks the process, the part that did is named and the other
 * parts are checked in another process.
 */
export async function* checkPackage(
  checked: CheckedPackage,
  { project = checked.directory, only, quick = false, attack, update = false, signal }: CheckPackageOptions = {},
): AsyncGenerator<CheckMessage, void> {
  const { directory } = checked;
  const places = new SourcePlaces(directory);
  const found = (code: FindingCode, message: string, subject: string, more: { fix?: string; about?: string } = {}) =>
    ({ event: "finding", finding: findingOf(code, new Error(message), { subject, places, ...more }) }) as const;
  try {
    assertOwnEntry(directory);
  } catch (error) {
    const code = MrlmError.hasCode(error, "PLUGIN_API_VERSION") ? "API_VERSION" : "MANIFEST_INVALID";
    yield { event: "finding", finding: inManifest(findingOf(code, error, { subject: "package", places }), directory) };
    return;
  }
  const skip: string[] = [];
  let behaviour: Behaviour["environments"] | undefined;
  let variables: readonly string[] = [];
  let hasFailed = false;
  const uncaught = new Set<string>();
  for (;;) {
    const request: CheckRequest = { directory, project, quick, skip, ...defined({ only, attack }) };
    const checking = pluginProcess<CheckMessage>("check-worker", request as never, { signal });
    let [current, during, hasParts] = ["package", "its import", false];
    let provider: ProviderMessage | undefined;
    let turn = await checking.next();
    for (; turn.done !== true; turn = await checking.next()) {
      const message = turn.value;
      if (message.event === "provider") provider = message;
      if (message.event === "parts") [hasParts, provider] = [true, undefined];
      if (message.event === "phase") during = message.name === "behaviour" ? "the recording of its fixtures" : during;
      if (message.event === "phase" && message.name === "behaviour") current = "behaviour";
      if (message.event === "started") [current, during] = [message.subject, `the check "${message.check}"`];
      if (message.event === "part") skip.push(message.subject);
      if (message.event === "finding" && message.finding.severity === "error") hasFailed = true;
      if (message.event === "behaviour") ({ environments: behaviour, variables } = message);
      if (message.event === "finding" && message.finding.code === "UNCAUGHT_ERROR") {
        // The import of each process throws it again.
        if (uncaught.has(message.finding.message)) continue;
        uncaught.add(message.finding.message);
      }
      yield message.event === "finding" ? { ...message, finding: inManifest(message.finding, directory) } : message;
    }
    const { value: ended } = turn;
    const subject = current === "behaviour" ? "package" : current;
    const printed = faultOfOutput(ended.printed);
    if (printed !== undefined) yield found("OUTPUT_EXCESSIVE", printed.message, subject);
    if (ended.kind === "done") break;
    if (provider !== undefined) {
      const { name, requirement } = provider;
      const { message } = faultOfEnd(ended, `the import of ${name}, which provides ${requirement}`);
      return yield found("REQUIREMENT_MISSING", message, "package");
    }
    const { code, message } = faultOfEnd(ended, during);
    yield found(code as FindingCode, message, subject);
    // Without its import there is nothing to check.
    if (!hasParts || skip.includes(current)) return;
    skip.push(current);
  }
  if (behaviour === undefined) return;
  if (!quick && only === undefined && !hasFailed)
    yield* elsewhere({ directory, project }, behaviour, variables, found, signal);
  const count = Object.keys(behaviour).length;
  if (update && count > 0) {
    writeBehaviour(directory, behaviour);
    yield { event: "recorded", environments: count };
  } else yield* differences(checked, behaviour, found);
  if (await isLeftOut(checked))
    yield found(
      "BEHAVIOUR_OUTDATED",
      `npm does not pack ${behaviourFile.name}: list it in \`files\` of the package.json.`,
      "package",
    );
}

/** Writes the recorded behaviour. Throws OUTPUT_INVALID where it cannot be written. */
function writeBehaviour(directory: string, environments: Behaviour["environments"]): void {
  try {
    writeAtomically(join(directory, behaviourFile.name), behaviourFile.format(environments));
  } catch (error) {
    throw asOutputFault(
      error,
      `${behaviourFile.name} cannot be written in ${directory}`,
      "Check a copy in which you may write.",
    );
  }
}

/** Describes what the code of a plugin did to its process as a finding. */
export function findingOfFault(
  { directory }: CheckedPackage,
  subject: string,
  { code, message }: PluginFault,
): Finding {
  return findingOf(code as FindingCode, new Error(message), { subject, places: new SourcePlaces(directory) });
}

type MakeFinding = (
  code: FindingCode,
  message: string,
  subject: string,
  more?: { fix?: string; about?: string },
) => { readonly event: "finding"; readonly finding: Finding };

/** Compares the behaviour in this process's surroundings with that in others. */
async function* elsewhere(
  where: Pick<CheckRequest, "directory" | "project">,
  behaviour: Behaviour["environments"],
  variables: readonly string[],
  found: MakeFinding,
  signal: AbortSignal | undefined,
): AsyncGenerator<CheckMessage> {
  const request: CheckRequest = { ...where, quick: true, skip: [], onlyBehaviour: true };
  const system = { TZ: "Pacific/Kiritimati", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" };
  const other = Object.fromEntries(variables.map((name) => [name, process.env[name] === "1" ? "0" : "1"]));
  const env = { ...other, ...system };
  const shown = [`TZ=${system.TZ}`, `LANG=${system.LANG}`, ...Object.entries(other).map((each) => each.join("="))];
  const surroundings = `in a process with ${shown.join(", ")}, another date and another working directory`;
  const checking = pluginProcess<CheckMessage>("check-worker", request as never, { signal, env, cwd: tmpdir() });
  let during = "its import";
  let turn = await checking.next();
  for (; turn.done !== true; turn = await checking.next()) {
    const message = turn.value;
    if (message.event === "phase" && message.name === "behaviour") during = "the recording of its fixtures";
    if (message.event === "finding")
      yield found("PROCESS_DEPENDENT", `${withoutEnd(message.finding.message)}, ${surroundings}.`, "package");
    if (message.event !== "behaviour") continue;
    for (const environment of Object.keys(behaviour))
      if (!Object.hasOwn(message.environments, environment))
        yield found("PROCESS_DEPENDENT", `No fixture can be played ${surroundings}.`, `environment:${environment}`);
    // The other process plays some of many fixtures.
    const compared = compareBehaviour(behaviour, message.environments).filter(({ kind }) => kind !== "removed");
    for (const [environment, differences] of byEnvironment(compared))
      yield found("PROCESS_DEPENDENT", `${sentence(differences)}, ${surroundings}.`, `environment:${environment}`, {
        about: differences[0].fixture,
      });
  }
  const { value: ended } = turn;
  if (ended.kind === "done") return;
  yield found("PROCESS_DEPENDENT", `${withoutEnd(faultOfEnd(ended, during).message)}, ${surroundings}.`, "package");
}

/** Returns a message without its full stop. */
function withoutEnd(message: string): string {
  return message.replace(/\.$/, "");
}

function* differences(
  { directory }: CheckedPackage,
  behaviour: Behaviour["environments"],
  found: MakeFinding,
): Generator<CheckMessage> {
  let recorded: Behaviour | undefined;
  try {
    recorded = behaviourFile.read(directory);
  } catch (error) {
    yield found("BEHAVIOUR_OUTDATED", (error as Error).message, "package");
    return;
  }
  if (recorded === undefined) return;
  const missing = Object.keys(behaviour).filter((id) => !Object.hasOwn(recorded.environments, id));
  for (const id of missing)
    yield found("BEHAVIOUR_OUTDATED", `${behaviourFile.name} does not have ${id}.`, `environment:${id}`);
  for (const [environment, all] of byEnvironment(compareBehaviour(recorded.environments, behaviour))) {
    const changed = all.filter(({ kind }) => kind === "changed");
    const outdated = all.filter(({ kind }) => kind !== "changed");
    for (const [code, differences] of [
      ["BEHAVIOUR_CHANGED", changed],
      ["BEHAVIOUR_OUTDATED", outdated],
    ] as const) {
      if (!isFilled(differences)) continue;
      const message = `${sentence(differences)}, compared with ${behaviourFile.name}.`;
      yield found(code, message, `environment:${environment}`, { about: differences[0].fixture });
    }
  }
}

type Filled<T> = readonly [T, ...T[]];

function isFilled<T>(items: readonly T[]): items is Filled<T> {
  return items.length > 0;
}

function byEnvironment(differences: readonly BehaviourDifference[]): [string, Filled<BehaviourDifference>][] {
  return Object.entries(Object.groupBy(differences, ({ environment }) => environment)).flatMap(([id, own = []]) =>
    isFilled(own) ? [[id, own]] : [],
  );
}

/** Describes the first difference, and how many others there are. */
function sentence([first, ...others]: Filled<BehaviourDifference>): string {
  const text = first.description;
  const more = others.length === 0 ? "" : ` (${others.length} other fixture${others.length === 1 ? "" : "s"} too)`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${more}`;
}

/** Returns whether a published package would lack the recorded behaviour. */
async function isLeftOut({ directory, json: { files, private: isPrivate } }: CheckedPackage): Promise<boolean> {
  if (isPrivate === true || !existsSync(join(directory, behaviourFile.name))) return false;
  const isListed = files?.includes(behaviourFile.name) === true && !files.some((file) => file.startsWith("!"));
  if (isListed) return false;
  // Patterns of `files` and .npmignore mean what npm makes of them.
  const packed = await packedNames(directory);
  return packed !== undefined && !packed.includes(behaviourFile.name);
}

/** Adds the line of the manifest to a finding about it. */
function inManifest(finding: Finding, directory: string): Finding {
  if (!["API_VERSION", "KEYWORD_MISSING", "MANIFEST_INVALID"].includes(finding.code)) return finding;
  const lines = readFileSync(join(directory, "package.json"), "utf8").split("\n");
  const key = /\bmrlm\.(\w+)/.exec(finding.message)?.[1] ?? /`(provides|requires)`/.exec(finding.message)?.[1];
  const start = lines.findIndex((line) => line.includes(finding.code === "KEYWORD_MISSING" ? '"keywords"' : '"mrlm"'));
  const named = lines.findIndex((line, i) => i >= start && key !== undefined && line.includes(`"${key}"`));
  const line = (named >= 0 ? named : Math.max(0, start)) + 1;
  return { ...finding, place: { file: "package.json", line } };
}

/** Report of `npm pack` on a package. */
interface PackReport {
  readonly files: readonly { readonly path: string }[];
}

/** Returns the paths of the files that npm would pack, without running a script; `undefined` where npm fails. */
async function packedNames(directory: string): Promise<string[] | undefined> {
  try {
    const report = (await queryNpm(["pack", "--dry-run", "--ignore-scripts"], directory)) as
      | readonly PackReport[]
      | Readonly<Record<string, PackReport>>;
    // npm prints an array of packages, or from version 11 on an object by package name.
    return Object.values(report)[0]?.files.map(({ path }) => path);
  } catch (error) {
    if (MrlmError.hasCode(error, "NPM_FAILED")) return undefined;
    throw error;
  }
}

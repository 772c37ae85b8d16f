import { type FolderFile, parseJson } from "@mrlm/kit/service";
import { matchesGlob, posix } from "node:path";
import { invalidTask, needsDocker } from "./place.ts";

/** Variables of an image before its first instruction. */
const VARIABLES = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root" };

/** Instructions without an effect on files and commands of a task. */
const WITHOUT_EFFECT = new Set(["CMD", "EXPOSE", "LABEL", "MAINTAINER", "STOPSIGNAL"]);

type Variables = Readonly<Record<string, string>>;

/** Step of a build. */
export type BuildStep = { readonly place: string; readonly workdir: string } & (
  | { readonly kind: "copy"; readonly files: readonly { readonly to: string; readonly file: FolderFile }[] }
  | { readonly kind: "run"; readonly command: string; readonly env: Variables }
);

/** Dockerfile as a workspace can follow it. */
export interface Dockerfile {
  /** Image that FROM names, and its place. */
  readonly from: string;
  readonly place: string;
  readonly workdir: string;
  readonly env: Variables;
  readonly steps: readonly BuildStep[];
}

interface State {
  workdir: string;
  env: Record<string, string>;
  /** Variables of ARG, which commands of the build see. */
  args: Record<string, string>;
  steps: BuildStep[];
}

/**
 * Reads a Dockerfile. Throws DATA_INVALID, with file and line, for an instruction that a workspace cannot follow.
 * @param files of the folder of the Dockerfile, from which COPY takes
 */
export function readDockerfile(text: string, path: string, files: readonly FolderFile[]): Dockerfile {
  const instructions = instructionsOf(text, path);
  const first = instructions.next().value ?? undefined;
  if (first?.name !== "FROM") throw invalidTask(first?.place ?? `${path}:1`, "a Dockerfile begins with FROM");
  const from = /^([^\s$-]\S*)(\s+AS\s+\S+)?$/i.exec(first.text)?.[1];
  if (from === undefined) throw needsDocker(first.place, `\`FROM ${first.text}\` has a variable or an option`);
  const state: State = { workdir: "/", env: { ...VARIABLES }, args: {}, steps: [] };
  for (const each of instructions) apply(each, state, files);
  const { workdir, env, steps } = state;
  return { from, place: first.place, workdir, env, steps };
}

interface Instruction {
  readonly name: string;
  readonly text: string;
  readonly place: string;
}

function apply({ name, text, place }: Instruction, state: State, files: readonly FolderFile[]): void {
  const { workdir } = state;
  const expand = (value: string): string => expanded(value, { ...state.args, ...state.env });
  switch (name) {
    case "RUN": {
      if (text.startsWith("--")) throw needsDocker(place, `RUN has the option ${text.split(/\s/, 1)[0]}`);
      if (/(^|\s)\d*<<-?["']?\w/.test(text)) throw needsDocker(place, "RUN has a here-document of the Dockerfile");
      const command = jsonList(text)?.map(shellQuoted).join(" ") ?? text;
      state.steps.push({ kind: "run", place, workdir, command, env: { ...state.args, ...state.env } });
      return;
    }
    case "COPY":
      state.steps.push({ kind: "copy", place, workdir, files: copied(expand(text), { place, workdir, files }) });
      return;
    case "WORKDIR":
      state.workdir = posix.resolve(workdir, expand(unquoted(text)));
      return;
    case "ENV":
      for (const [key, value] of pairsOf(text, place)) state.env[key] = expand(value);
      return;
    case "ARG": {
      const [key, value = ""] = text.split(/=(.*)/s, 2) as [string, string?];
      state.args[key] = expand(unquoted(value));
      return;
    }
    case "USER":
      // The kernel gives a user without rights one user id in a jail.
      if (!/^(root|0)(:(root|0))?$/.test(text))
        throw invalidTask(
          place,
          `\`USER ${text}\` is another user than root, and a workspace has one: its programs could read and change what the task keeps from ${text}`,
          "Leave USER out where root's files are not kept from the program; else move them to tests/, which is not there before the end.",
        );
      return;
    default:
      if (!WITHOUT_EFFECT.has(name)) throw needsDocker(place, `${name} is an instruction`);
  }
}

/** Returns where COPY writes which files. */
function copied(
  text: string,
  {
    place,
    workdir,
    files,
  }: { readonly place: string; readonly workdir: string; readonly files: readonly FolderFile[] },
): { to: string; file: FolderFile }[] {
  const [, options = "", rest = ""] = /^((?:--\S+\s+)*)(.*)$/s.exec(text) ?? [];
  const modes: boolean[] = [];
  for (const option of options.split(/\s+/).filter(Boolean)) {
    const mode = /^--chmod=0?([0-7]{3})$/.exec(option)?.[1];
    if (mode === undefined && !/^--chown=(root|0)(:(root|0))?$/.test(option))
      throw needsDocker(place, `COPY has the option ${option}`);
    if (mode !== undefined) modes.push((Number.parseInt(mode, 8) & 0o111) !== 0);
  }
  const names = jsonList(rest) ?? rest.split(/\s+/).filter(Boolean).map(unquoted);
  const target = names.pop();
  if (target === undefined || names.length === 0) throw invalidTask(place, "COPY names sources and a target");
  if (names.some((each) => each.startsWith("<<"))) throw needsDocker(place, "COPY has a here-document");
  const to = posix.resolve(workdir, target);
  const isFolder = target.endsWith("/") || names.length > 1;
  return names.flatMap((name) => {
    const source = posix.relative("/", posix.resolve("/", name));
    const at = (file: FolderFile): string | undefined => {
      if (source === "" || file.path.startsWith(`${source}/`)) return posix.join(to, posix.relative(source, file.path));
      if (file.path === source) return isFolder || target === "." ? posix.join(to, posix.basename(file.path)) : to;
      const top = file.path.split("/").slice(0, source.split("/").length).join("/");
      if (!/[*?[]/.test(source) || !matchesGlob(top, source)) return undefined;
      return posix.join(to, top === file.path ? posix.basename(top) : posix.relative(top, file.path));
    };
    const found = files.flatMap((file) => {
      const path = at(file);
      return path === undefined
        ? []
        : [{ to: path, file: { ...file, isExecutable: modes.at(-1) ?? file.isExecutable } }];
    });
    if (found.length === 0) throw invalidTask(place, `COPY finds no file ${name} beside the Dockerfile`);
    return found;
  });
}

/** Returns the instructions with the places of their first lines. Comments and ends of lines after a backslash are left out. */
function* instructionsOf(text: string, path: string): Generator<Instruction, void> {
  let isFirst = true;
  let open: { text: string; line: number } | undefined;
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*#\s*escape\s*=\s*`/i.test(line) && isFirst)
      throw needsDocker(`${path}:${at + 1}`, "the Dockerfile has another escape character");
    if (/^\s*(#|$)/.test(line)) continue;
    open ??= { text: "", line: at + 1 };
    open.text += line.replace(/\\\s*$/, "");
    if (/\\\s*$/.test(line)) continue;
    yield instructionOf(open.text, `${path}:${open.line}`);
    open = undefined;
    isFirst = false;
  }
  if (open !== undefined) yield instructionOf(open.text, `${path}:${open.line}`);
}

function instructionOf(text: string, place: string): Instruction {
  const [, name = "", rest = ""] = /^\s*([A-Za-z]+)(?:\s+(.*))?$/s.exec(text) ?? [];
  if (name === "" || rest.trim() === "") throw invalidTask(place, "the line is no instruction of a Dockerfile");
  return { name: name.toUpperCase(), text: rest.trim(), place };
}

/** Returns the variables of ENV: `a=1 b="2 3"`, or the older `a 1 2`. */
function pairsOf(text: string, place: string): [string, string][] {
  const older = /^([A-Za-z_]\w*)\s+(.*)$/s.exec(text);
  if (older !== null) return [[older[1] as string, unquoted(older[2] as string)]];
  const pairs = [...text.matchAll(/([A-Za-z_]\w*)=("(?:[^"\\]|\\.)*"|'[^']*'|(?:[^\s\\]|\\.)*)(?:\s+|$)/gy)];
  if (pairs.length === 0 || pairs.map(([all]) => all).join("") !== text)
    throw invalidTask(place, "ENV has the form NAME=VALUE");
  return pairs.map(([, key, value]) => [key as string, unquoted(value as string)]);
}

/** Replaces `$NAME`, `${NAME}` and `${NAME:-default}`. */
function expanded(text: string, variables: Variables): string {
  return text.replaceAll(/\$(?:(\w+)|\{(\w+)(?::-([^}]*))?\})/g, (_, plain, braced, otherwise) => {
    const value = variables[plain ?? braced];
    return value === undefined || value === "" ? (otherwise ?? "") : value;
  });
}

function unquoted(text: string): string {
  const inner = /^"(.*)"$|^'(.*)'$/s.exec(text);
  return inner === null
    ? text.replaceAll(/\\(.)/gs, "$1")
    : (inner[1]?.replaceAll(/\\(.)/gs, "$1") ?? (inner[2] as string));
}

function jsonList(text: string): string[] | undefined {
  if (!text.startsWith("[")) return undefined;
  try {
    const list: unknown = parseJson(text);
    return Array.isArray(list) && list.every((each) => typeof each === "string") ? list : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a text as one word of a shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

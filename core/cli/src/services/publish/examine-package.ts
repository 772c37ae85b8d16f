import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CheckedPackage, checkPackage } from "../check-package.ts";
import { gitFiles, packCleanCopy, type PackedCopy } from "./clean-copy.ts";
import { type PackageFields, problemsOfFiles } from "./packed-files.ts";
import type { CheckMessage } from "../plugin-check.ts";
import type { Problem } from "./problem.ts";
import { behaviourProblems, recordedIn } from "./published-behaviour.ts";
import { registryState } from "./registry-state.ts";

type Finding = Extract<CheckMessage, { readonly event: "finding" }>["finding"];

/** Result of the examination of a package before it is published. */
export interface Examination {
  readonly problems: readonly Problem[];
  /** Findings of the check that are neither repaired nor acknowledged. */
  readonly findings: readonly Finding[];
  /** The packed package; `undefined` if it could not be built. */
  readonly packed: PackedCopy | undefined;
}

/** Returns whether a dependency is an address or a path: only ranges and tags have neither a colon nor a slash, and `npm:` is another name of a package. */
function isLinked(spec: string): boolean {
  return (/[:/\\]/.test(spec) && !spec.startsWith("npm:")) || /^(\.+|~)$/.test(spec);
}

/** Examines a package in the order of cost, and returns every problem. Sends nothing to the registry. */
export async function examinePackage(
  checked: CheckedPackage,
  { tag, onStep }: { readonly tag: string | undefined; readonly onStep: (step: string) => void },
): Promise<Examination> {
  const { directory, name, version } = checked;
  const fields = checked.json as unknown as PackageFields & { private?: boolean };
  const problems: Problem[] = [];
  if (fields.private === true)
    problems.push({ code: "PACKAGE_PRIVATE", message: `${name} is private in its package.json.` });
  problems.push(...linkedDependencies(fields));
  if (tag === undefined && /^\d+\.\d+\.\d+-/.test(version))
    problems.push({
      code: "TAG_MISSING",
      message: `${version} is a prerelease, and would be installed as the latest.`,
    });
  const git = await gitFiles(directory);
  if (git !== undefined && git.changed.length > 0)
    problems.push({
      code: "TREE_DIRTY",
      message: `git has changes that are not committed: ${git.changed.slice(0, 5).join(", ")}${git.changed.length > 5 ? ", ..." : ""}.`,
    });
  onStep("asking the registry");
  const registry = await registryState({ name, version, publishConfig: fields.publishConfig }, directory);
  problems.push(...registry.problems);
  onStep("building and packing a copy");
  const packed = await packCleanCopy(directory, git?.files);
  if ("code" in packed) return { problems: [...problems, packed], findings: [], packed: undefined };
  try {
    problems.push(...(await problemsOfFiles(packed.files, fields)));
    onStep("checking the plugin");
    const findings = await openFindings({ ...checked, directory: packed.directory });
    if (findings.length > 0)
      problems.push({
        code: "CHECK_FAILED",
        message: `mrlm check reports ${findings.map(({ code }) => code).join(", ")}.`,
      });
    onStep("checking package.json and types");
    problems.push(...(await runLinters(directory, packed.tarball)));
    const provides = (checked.json.mrlm as { readonly provides?: readonly string[] }).provides ?? [];
    const hasEnvironments = provides.some((id) => id.startsWith("environment:"));
    if (hasEnvironments && recordedIn(packed.files) === undefined)
      problems.push({ code: "BEHAVIOUR_UNRECORDED", message: "The packed package has no mrlm.behaviour.json." });
    if (registry.latest !== undefined) {
      onStep(`comparing the behaviour with ${registry.latest}`);
      problems.push(...(await behaviourProblems(`${name}@${registry.latest}`, packed.files, directory)));
    }
    return { problems, findings, packed };
  } catch (error) {
    packed.remove();
    throw error;
  }
}

/** Returns a problem for each dependency that the registry cannot resolve for another user. */
export function linkedDependencies({
  dependencies,
  peerDependencies,
  optionalDependencies,
}: Omit<PackageFields, "name">): Problem[] {
  return [dependencies, peerDependencies, optionalDependencies].flatMap((each) =>
    Object.entries(each ?? {})
      .filter(([, spec]) => isLinked(spec))
      .map(([dependency, spec]): Problem => ({
        code: "DEPENDENCY_LINKED",
        message: `${dependency} is "${spec}", which other machines do not have.`,
      })),
  );
}

async function openFindings(checked: CheckedPackage): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const message of checkPackage(checked))
    if (message.event === "finding" && message.finding.acknowledged === undefined) findings.push(message.finding);
  return findings;
}

/** Runs the linters of packages that the project has installed. */
async function runLinters(directory: string, tarball: string): Promise<Problem[]> {
  const problems = await Promise.all([
    lint(directory, "publint", ["run", tarball, "--strict"], "PUBLINT_FAILED"),
    lint(directory, "attw", [tarball, "--profile", "esm-only", "--no-color", "--no-emoji"], "TYPES_WRONG"),
  ]);
  return problems.flat();
}

async function lint(
  directory: string,
  command: string,
  args: readonly string[],
  code: "PUBLINT_FAILED" | "TYPES_WRONG",
): Promise<Problem[]> {
  const path = binaryOf(directory, command);
  if (path === undefined) return [{ code: "TOOL_MISSING", message: `${command} is not installed in the project.` }];
  return new Promise((resolve) => {
    execFile(process.execPath, [path, ...args], { cwd: directory, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      const lines = `${stdout}\n${stderr}`
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
      resolve(error === null ? [] : [{ code, message: `${command}: ${lines.slice(-8).join(" | ")}` }]);
    });
  });
}

function binaryOf(directory: string, command: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    const path = join(at, "node_modules", ".bin", command);
    if (existsSync(path)) return path;
    if (dirname(at) === at) return undefined;
  }
}

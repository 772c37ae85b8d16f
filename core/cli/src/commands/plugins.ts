import { confirm, isCancel } from "@clack/prompts";
import { didYouMean, installHint } from "@mrlm/runtime";
import { type JsonObject, MrlmError } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import { table } from "../console/table.ts";
import type { AddOptions, ListOptions } from "../declarations/plugins.ts";
import { inspectPlugins } from "../services/inspect-plugins.ts";
import {
  installedPlugins,
  missingRequirements,
  type PackageManager,
  packageManagerOf,
  projectOf,
} from "../services/installed-plugins.ts";
import { queryNpm, runForUser } from "../services/npm.ts";
import { type RegistryPackage, viewPackage } from "../services/registry-package.ts";

/** Keyword by which plugins are found. */
const KEYWORD = "mrlm-plugin";

/** Prints the plugins of the registry that match all words. */
export async function searchPlugins({ console, directory }: CommandContext, words: readonly string[]): Promise<void> {
  const found = await findPlugins(words, directory);
  if (found.length === 0) console.note(`note: the registry has no plugin for ${words.join(" ") || "any word"}`);
  else
    console.print(
      table([
        ["plugin", "version", "published", "description"],
        ...found.map(({ name, version, date = "", description = "" }) => [
          name,
          version,
          date.slice(0, 10),
          description,
        ]),
      ]),
    );
  for (const { name, version, date, description } of found)
    console.emit({ event: "plugin", name, version, date: date ?? null, description: description ?? "" });
}

/** Some private registries know no `keywords:` and search in names and descriptions alone: there the keyword is compared here. */
async function findPlugins(words: readonly string[], directory: string): Promise<readonly FoundPackage[]> {
  const query = async (first: string): Promise<readonly SearchResult[]> =>
    (await queryNpm(["search", first, ...words, "--searchlimit=50"], directory)) as SearchResult[];
  const byKeyword = await query(`keywords:${KEYWORD}`);
  const found =
    byKeyword.length > 0
      ? byKeyword
      : (await query("mrlm")).filter(({ keywords }) => keywords?.includes(KEYWORD) === true);
  return found.map(({ "dist-tags": tags, ...each }) => ({ ...each, version: each.version ?? tags?.latest ?? "" }));
}

interface FoundPackage {
  readonly name: string;
  readonly version: string;
  readonly date?: string;
  readonly description?: string;
}

interface SearchResult extends Omit<FoundPackage, "version"> {
  readonly version?: string;
  /** In place of the version, in the results of verdaccio. */
  readonly "dist-tags"?: { readonly latest?: string };
  readonly keywords?: readonly string[];
}

/** Describes a plugin of the registry, and installs it after a confirmation. Its install scripts do not run unless they are asked for. */
export async function addPlugin({ console, directory }: CommandContext, spec: string, args: AddOptions): Promise<void> {
  const project = projectOf(directory);
  const found = await viewPackage(spec, project);
  const { plugins } = installedPlugins(project);
  const missing = missingRequirements(found.manifest.requires ?? [], plugins);
  for (const line of describePackage(found, missing)) console.print(line);
  const manager = packageManagerOf(project);
  const command = installCommand(manager, found, args.scripts === true);
  if (args.yes !== true) await confirmed(`Run \`${manager} ${command.join(" ")}\` in ${project}?`);
  const exitCode = await runForUser(manager, command, project);
  if (exitCode !== 0)
    throw new MrlmError("NPM_FAILED", `\`${manager} ${command.join(" ")}\` ended with exit code ${exitCode}.`, {
      hint: "Its output is above.",
    });
  const { name, version, manifest } = found;
  console.emit({ event: "added", name, version, provides: [...manifest.provides], missing });
}

function describePackage(found: RegistryPackage, missing: readonly string[]): string[] {
  const { name, version, description, manifest, published, firstPublished, hasProvenance, installScripts, similarTo } =
    found;
  const date = (time: string | undefined): string => time?.slice(0, 10) ?? "at an unknown time";
  return [
    `${name} ${version}${description === "" ? "" : `: ${description}`}`,
    `  provides    ${manifest.provides.join(", ")}`,
    `  requires    ${manifest.requires?.join(", ") ?? "nothing"}`,
    ...missing.map((id) => {
      const [kind = "", service = ""] = id.split(":");
      return `  missing     ${id}. ${installHint(kind, service)}`;
    }),
    `  published   ${date(published)}; the first version ${date(firstPublished)}`,
    `  provenance  ${hasProvenance ? "the registry has a signed statement of its build" : "none: the registry does not state who built it from which source"}`,
    ...(installScripts.length === 0
      ? []
      : [`  scripts     ${installScripts.join(", ")}: they do not run unless you add --scripts`]),
    ...(similarTo === undefined
      ? []
      : [`  warning     its name is close to ${similarTo}. Check that it is the right package.`]),
    "A plugin is code that runs with your permissions.",
  ];
}

function installCommand(manager: PackageManager, { name, version }: RegistryPackage, withScripts: boolean): string[] {
  const verb = manager === "npm" ? "install" : "add";
  return [verb, ...(withScripts ? [] : ["--ignore-scripts"]), `${name}@${version}`];
}

/** Asks on a terminal; elsewhere throws USAGE. */
async function confirmed(question: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new MrlmError("USAGE", "Nothing was installed: there is no terminal to confirm it.", {
      hint: "Add --yes once you trust the package.",
    });
  const answer = await confirm({ message: question, initialValue: false });
  if (isCancel(answer) || !answer) throw new MrlmError("CANCELLED", "Nothing was installed.");
}

/** Removes a plugin from the project. Throws PLUGIN_NOT_FOUND for a package that is no dependency. */
export async function removePlugin({ console, directory }: CommandContext, name: string): Promise<void> {
  const { project, plugins, skipped } = installedPlugins(directory);
  const known = [...plugins, ...skipped].find((each) => each.name === name);
  if (known === undefined || ("directory" in known && known.directory === project)) {
    const removable = plugins.filter((each) => each.directory !== project).map((each) => each.name);
    const similar = didYouMean(name, removable);
    throw new MrlmError("PLUGIN_NOT_FOUND", `${name} is no dependency of the project ${project}.${similar}`, {
      hint: "`mrlm plugins list` prints its plugins.",
    });
  }
  const manager = packageManagerOf(project);
  const remove = manager === "npm" ? "uninstall" : "remove";
  if ("fault" in known && known.fault.code === "NO_PLUGIN")
    throw new MrlmError("PLUGIN_INVALID", `${name} is a dependency of ${project}, and no plugin.`, {
      hint: `\`${manager} ${remove} ${name}\` removes it.`,
    });
  const exitCode = await runForUser(manager, [remove, name], project);
  if (exitCode !== 0) throw new MrlmError("NPM_FAILED", `${manager} could not remove ${name}: exit code ${exitCode}.`);
  console.emit({ event: "removed", name });
}

/** Prints the plugins of the project; with `--why` also their places, requirements and faults, and what was skipped. */
export async function listPlugins({ console, directory }: CommandContext, options: ListOptions): Promise<void> {
  const why = options.why === true;
  const { project, plugins, skipped } = installedPlugins(directory);
  const faults = why ? (await inspectPlugins({ directory })).faults : new Map<string, never[]>();
  if (plugins.length === 0) console.note(`note: ${project} has no plugins among its direct dependencies`);
  else if (!why)
    console.print(
      table([
        ["plugin", "version", "provides"],
        ...plugins.map(({ name, version, manifest }) => [name, version, manifest.provides.join(", ")]),
      ]),
    );
  for (const { name, version, directory: place, manifest } of plugins) {
    const missing = missingRequirements(manifest.requires ?? [], plugins);
    const found = faults.get(name) ?? [];
    const lines = [
      `${name} ${version}`,
      `  path        ${place}`,
      `  provides    ${manifest.provides.join(", ")}`,
      `  requires    ${manifest.requires?.join(", ") ?? "nothing"}`,
      ...missing.map((id) => `  missing     ${id}. ${installHint(...(id.split(":") as [string, string]))}`),
      ...found.map(
        ({ code, message, hint }) => `  fault       ${code}: ${message}${hint === undefined ? "" : ` ${hint}`}`,
      ),
    ];
    if (why) for (const line of lines) console.print(line);
    console.emit({
      ...{ event: "plugin", name, version, directory: place, provides: [...manifest.provides] },
      ...{
        requires: [...(manifest.requires ?? [])],
        missing,
        faults: found.map((fault): JsonObject => ({ ...fault })),
      },
    });
  }
  for (const { name, fault } of skipped) {
    const { code, message } = fault;
    if (code !== "NO_PLUGIN") (why ? console.print : console.note)(`skipped ${name}: ${message}`);
    console.emit({ event: "skipped", name, code, message });
  }
  const others = skipped.filter(({ fault }) => fault.code === "NO_PLUGIN").map(({ name }) => name);
  if (why && others.length > 0) console.print(`no plugins, without a "mrlm" field: ${others.join(", ")}`);
}

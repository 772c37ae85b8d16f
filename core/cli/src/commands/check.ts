import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { behaviourFile, discoverPlugins, projectDirectory } from "@mrlm/runtime";
import { defined, type JsonObject, MrlmError } from "@mrlm/spec";
import { type Finding, isNamed, type PluginSubject } from "@mrlm/testing";
import type { CommandContext } from "../command-context.ts";
import {
  badge,
  type CheckOutcome,
  countFindings,
  describeFindings,
  describeSpeeds,
  summaryLine,
} from "../console/check-report.ts";
import type { Console } from "../console/console.ts";
import { progressBar } from "../console/progress-bar.ts";
import type { CheckOptions } from "../declarations/check.ts";
import { EXIT } from "../exit-codes.ts";
import { lineLogger } from "../console/line-logger.ts";
import { listenForInterrupts } from "../interrupts.ts";
import {
  type CheckedPackage,
  checkPackage,
  type CheckPackageOptions,
  findingOfFault,
  findPackage,
} from "../services/check-package.ts";
import { checkTasks, hasTasks } from "../services/check-tasks.ts";
import { playForSignal } from "../services/play-for-signal.ts";
import { learnAnswers, type LearntAnswers } from "./learn-answers.ts";

/** Checks a plugin, and prints its findings. Returns the exit code. */
export async function check(context: CommandContext, target: string, args: CheckOptions): Promise<number> {
  const { console, directory } = context;
  if (args.update === true && args.only !== undefined)
    throw new MrlmError("USAGE", "--update records all environments: leave --only out.");
  const limits = attackOf(args);
  const folder = resolve(directory, target);
  if (hasTasks(folder)) {
    const { playGroups: _, ...flags } = args;
    const [flag] = Object.entries(flags).find(([, value]) => value !== undefined) ?? [];
    if (flag === undefined) return checkFolder(context, folder);
    throw new MrlmError("USAGE", `--${flag} is for plugins, and ${target} is a folder of tasks.`, {
      hint: "Leave it out.",
    });
  }
  const checked = findPackage(target, directory);
  if (args.only !== undefined) assertParts(checked, args.only);
  const changed = changedSince(checked);
  if (changed !== undefined)
    console.note(`note: ${changed} was changed after the build, which is what this command checks. Build it first.`);
  const interrupts = listenForInterrupts(console, "stopping");
  try {
    const learnt = args.model === undefined ? {} : await learnEach(context, checked, args);
    let outcome = await report(context, checked, {
      project: projectDirectory(directory) ?? directory,
      quick: args.quick ?? false,
      update: args.update ?? false,
      signal: interrupts.drain,
      attack: { ...limits, learnt },
      ...defined({ only: args.only }),
    });
    if (args.play !== undefined && outcome.parts.length > 0) {
      const playing = [playingProject(directory, checked), environmentsOf(outcome.parts)] as const;
      const faults = await playForSignal(context, ...playing, args, interrupts.drain);
      const found = [...faults].flatMap(([id, all]) =>
        all.map((fault) => findingOfFault(checked, `environment:${id}`, fault)),
      );
      outcome = { ...outcome, findings: [...outcome.findings, ...found] };
      reportFindings(console, found);
      for (const finding of found) emitFinding(console, finding);
    }
    const { errors, warnings, acknowledged } = countFindings(outcome.findings);
    if (args.badge === true) console.print(badge(outcome));
    console.print(summaryLine(outcome));
    const { name, version, checks, seconds, parts } = outcome;
    console.emit({
      event: "check",
      ...{ name, version, parts: [...parts], checks, errors, warnings, acknowledged, seconds },
      ...(args.badge === true && { badge: badge(outcome) }),
    });
    return errors + warnings > 0 ? EXIT.unhealthy : EXIT.ok;
  } finally {
    interrupts.dispose();
  }
}

/** Checks the tasks of a folder, and prints the findings. Returns the exit code. */
async function checkFolder({ console, directory }: CommandContext, folder: string): Promise<number> {
  const start = performance.now();
  const interrupts = listenForInterrupts(console, "stopping");
  try {
    const { tasks, checks, findings } = await checkTasks(folder, {
      directory: projectDirectory(directory) ?? directory,
      logger: lineLogger((line) => console.note(line)),
      signal: interrupts.drain,
      onTask: (name) => console.note(`note: ${name}`),
    });
    const seconds = (performance.now() - start) / 1_000;
    reportFindings(console, findings);
    for (const finding of findings) emitFinding(console, finding);
    const outcome = { name: basename(folder), version: "tasks", parts: tasks, checks, leftOut: 0, findings, seconds };
    console.print(summaryLine(outcome));
    const { errors, warnings, acknowledged } = countFindings(findings);
    console.emit({
      event: "check",
      ...{ name: folder, version: "", parts: [...tasks], checks, errors, warnings, acknowledged, seconds },
    });
    return findings.length > 0 ? EXIT.unhealthy : EXIT.ok;
  } finally {
    interrupts.dispose();
  }
}

/** Returns the limits of the search for programs that solve nothing. Throws USAGE where no search runs. */
function attackOf({ attack, quick, episodes, minutes, model }: CheckOptions): NonNullable<PluginSubject["attack"]> {
  const flags = Object.entries({ attack, episodes, minutes });
  const [flag] = flags.find(([, value]) => value !== undefined) ?? [];
  if (quick === true && flag !== undefined)
    throw new MrlmError("USAGE", `--${flag} needs the search that --quick leaves out.`, {
      hint: "Leave out one of the two.",
    });
  if (model !== undefined && attack !== true)
    throw new MrlmError("USAGE", "--model trains a model for the search of --attack.", { hint: "Add --attack." });
  return { isThorough: attack === true, ...defined({ episodes, minutes }) };
}

/** Trains a model in each environment of the package that is checked, and returns what it learnt to answer. */
async function learnEach(
  { console, directory }: CommandContext,
  checked: CheckedPackage,
  args: CheckOptions,
): Promise<Record<string, LearntAnswers["answers"]>> {
  const { provides } = checked.json.mrlm as { readonly provides?: readonly string[] };
  const wanted = (provides ?? []).filter((part) => args.only?.some((name) => isNamed(part, name)) !== false);
  const learnt: Record<string, LearntAnswers["answers"]> = {};
  const context = { console, directory: playingProject(directory, checked) };
  for (const environment of environmentsOf(wanted)) {
    const { answers, text } = await learnAnswers(context, environment, args);
    learnt[environment] = answers;
    console.print(`environment:${environment}, ${text}\n`);
    console.emit({ event: "note", subject: `environment:${environment}`, check: "training", text });
  }
  return learnt;
}

/** Runs the checks, and prints the findings and speeds of each part when the part is done. */
async function report(
  { console }: CommandContext,
  checked: CheckedPackage,
  options: CheckPackageOptions,
): Promise<CheckOutcome> {
  const start = performance.now();
  const bar = progressBar(console, "check", { isBrief: true });
  const findings: Finding[] = [];
  const parts = new Map<string, number>();
  const lines: string[] = [];
  let [checks, recorded, leftOut] = [0, 0, 0];
  try {
    for await (const message of checkPackage(checked, options)) {
      if (message.event === "parts")
        for (const part of message.parts) {
          leftOut += parts.has(part.subject) ? 0 : part.leftOut;
          parts.set(part.subject, part.checks);
        }
      if (message.event === "started")
        bar.update(checks, Math.max(checks, sum(parts.values())), `${message.subject}  ${message.check}`);
      if (message.event === "ended") {
        checks++;
        console.emit({ ...message });
      }
      if (message.event === "finding") {
        findings.push(message.finding);
        emitFinding(console, message.finding);
      }
      if (message.event === "recorded") recorded = message.environments;
      if (message.event === "note") {
        lines.push(`${message.subject}, ${message.text}`);
        console.emit({ event: "note", subject: message.subject, check: message.check, text: message.text });
      }
      if (message.event === "speed") {
        lines.push(describeSpeeds(message.subject, message.speeds));
        console.emit({
          event: "speed",
          subject: message.subject,
          speeds: message.speeds.map((speed) => ({ ...speed })),
        });
      }
    }
  } finally {
    bar.end();
  }
  reportFindings(console, findings);
  for (const line of lines) console.print(line);
  if (options.update === true)
    console.print(
      recorded === 0
        ? `Nothing was written to ${behaviourFile.name}: no fixture of an environment could be played.`
        : `${behaviourFile.name} records the fixtures of ${recorded} environment${recorded === 1 ? "" : "s"}.`,
    );
  const seconds = (performance.now() - start) / 1_000;
  return { name: checked.name, version: checked.version, parts: [...parts.keys()], checks, leftOut, findings, seconds };
}

function emitFinding(console: Console, finding: Finding): void {
  console.emit({ event: "finding", ...(finding as unknown as JsonObject) });
}

function reportFindings(console: Console, findings: readonly Finding[]): void {
  for (const [subject, own = []] of Object.entries(Object.groupBy(findings, (finding) => finding.subject)))
    console.print(`${describeFindings(subject, own)}\n`);
}

/** Throws USAGE for a name that is no part of the package. A manifest without parts has a finding. */
function assertParts({ name, json: { mrlm } }: CheckedPackage, only: readonly string[]): void {
  const { provides } = mrlm as { readonly provides?: unknown };
  if (!Array.isArray(provides)) return;
  const parts = ["package", ...provides.map(String)];
  const unknown = only.filter((part) => !parts.some((subject) => isNamed(subject, part)));
  if (unknown.length === 0) return;
  throw new MrlmError("USAGE", `${name} has no part ${unknown.map((part) => `"${part}"`).join(", ")}.`, {
    hint: `Its parts: ${parts.join(", ")}. The kind and the version may be left out.`,
  });
}

/** Returns the folder whose plugins play: the working directory's if the checked package is among them, else the package's. */
function playingProject(directory: string, { name, directory: own }: CheckedPackage): string {
  const found = discoverPlugins(directory, {}, directory, undefined, () => undefined);
  return found.some((entry) => entry.name === name) ? directory : own;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

function environmentsOf(parts: readonly string[]): string[] {
  return parts.filter((part) => part.startsWith("environment:")).map((part) => part.slice("environment:".length));
}

const SOURCE = /(?<!\.d)\.[cm]?tsx?$/;

/** Returns a source file that was changed after the entry of the package was built; `undefined` where the entry is no build or is newer. */
export function changedSince({ directory, json: { mrlm } }: CheckedPackage): string | undefined {
  const { entry } = mrlm as { readonly entry?: unknown };
  if (typeof entry !== "string" || !/^\.\/(dist|build|lib|out)\//.test(entry)) return undefined;
  const [built, sources] = [join(directory, entry), join(directory, "src")];
  if (!existsSync(built) || !existsSync(sources)) return undefined;
  const builtAt = statSync(built).mtimeMs;
  const changed = readdirSync(sources, { recursive: true, encoding: "utf8" }).find(
    (name) => SOURCE.test(name) && statSync(join(sources, name)).mtimeMs > builtAt,
  );
  return changed === undefined ? undefined : `src/${changed.replaceAll("\\", "/")}`;
}

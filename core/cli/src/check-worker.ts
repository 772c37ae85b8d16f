// Checks a plugin, in a process that its code may end, block or change. services/check-package.ts starts it.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";
import { discoverPlugins, importPlugin, type PluginPackage, readPluginPackage, requiredSandboxes } from "@mrlm/runtime";
import { MrlmError, type Plugin } from "@mrlm/spec";
import {
  checkPlugin,
  checksOf,
  type FindingCode,
  findingOf,
  measureEnvironment,
  partsOf,
  type PluginSubject,
  recordBehaviour,
  SourcePlaces,
  WatchedInputs,
} from "@mrlm/testing";
import { globalChanges, globalState } from "./services/global-changes.ts";
import type { CheckMessage, CheckRequest } from "./services/plugin-check.ts";
import { faultOf, faultOfOutput } from "./services/plugin-fault.ts";
import { interceptOutput } from "./services/printed-output.ts";
import { openWorkerPort } from "./services/worker-port.ts";

const IMPORT_MS = 10_000;
/** Time for a process that the import started to end, in milliseconds. */
const PROCESS_MS = 1_000;
/** Time that is added to the clock of the other surroundings, in milliseconds. */
const OTHER_DATE_MS = 500 * 86_400_000;
/** Number of fixtures of an environment that are played in the other surroundings. */
const OTHER_FIXTURES = 8;
/** Uncaught errors that are reported. */
const MAX_UNCAUGHT = 5;
/** Time beyond that of a check, in which it must have given up by itself, in milliseconds. */
const GRACE_MS = 10_000;

const printed = interceptOutput();
const { request, send, started, end } = await openWorkerPort<CheckRequest, CheckMessage>();
const { directory, project, only, quick, attack, skip } = request;
const places = new SourcePlaces(directory);
let current = "package";

let acknowledged: NonNullable<Plugin["acknowledged"]> = {};
/** Whether a check of an environment did not end: its fixtures would not either. */
let isHanging = false;

const report = (code: FindingCode, error: unknown, about?: string): void =>
  send({
    event: "finding",
    finding: findingOf(code, error, { subject: current, places, acknowledged, ...(about !== undefined && { about }) }),
  });

/** Uncaught errors that were reported. An interval that throws does so in each part, often with a number that rises. */
const uncaught = new Set<string>();
process.on("uncaughtException", (error) => {
  const text = (error instanceof Error ? error.message : inspect(error)).replaceAll(/\d+/g, "0");
  if (uncaught.has(text) || uncaught.size === MAX_UNCAUGHT) return;
  uncaught.add(text);
  report("UNCAUGHT_ERROR", error);
});

const own = readPluginPackage(directory) as PluginPackage;
send({ event: "phase", name: "import", nextMs: IMPORT_MS });
const inputs = WatchedInputs.install(directory);
const before = globalState();
inputs.watch(request.onlyBehaviour === true ? { clockMs: OTHER_DATE_MS } : {});
const plugin = await load(own);
const variables = inputs.reads.flatMap(({ kind, name }) =>
  kind === "variable" ? [name.slice("process.env.".length)] : [],
);
if (request.onlyBehaviour !== true) inputs.rest();
const changes = globalChanges(before);
const subject = plugin && (await subjectOf(own, plugin));
// Changes of the plugins that it requires are not its own.
const known = globalChanges(before);
if (subject !== undefined && request.onlyBehaviour === true) await sendBehaviour(subject);
else if (subject !== undefined) {
  const { plugin } = subject;
  const acknowledgements = (plugin.environments ?? []).map((each) => each.acknowledged);
  acknowledged = Object.assign({}, plugin.acknowledged, ...acknowledgements) as typeof acknowledged;
  const parts = partsOf(subject, only);
  send({
    event: "parts",
    parts: parts.map((part) => {
      const checks = checksOf(part, quick).length;
      return { subject: part.subject, checks, leftOut: part.checks.length - checks };
    }),
  });
  if (!skip.includes("package")) {
    if (changes.length > 0) reportChanges(changes);
    await reportProcesses();
    reportOutput();
  }
  for (const part of parts) if (!skip.includes(part.subject)) await check(subject, part.subject);
  if (only === undefined && !skip.includes("behaviour") && !isHanging) await sendBehaviour(subject);
  reportOutput();
  send({ event: "phase", name: "end", nextMs: GRACE_MS });
}
end();

/** Imports the plugin as a host does, which compares it with its manifest; reports why that fails. */
async function load(found: PluginPackage): Promise<Plugin | undefined> {
  try {
    await importPlugin(found, () => []);
    // The definitions as the author wrote them, without the host's wrapper.
    return ((await import(found.entry)) as { readonly default: Plugin }).default;
  } catch (error) {
    const code = MrlmError.hasCode(error, "PLUGIN_INVALID", "PLUGIN_API_VERSION")
      ? "MANIFEST_INVALID"
      : "IMPORT_FAILED";
    report(code, error);
    return undefined;
  }
}

/** Adds the plugins that provide what this one requires, directly or through another. Reports the first that cannot be loaded, and returns `undefined`. */
async function subjectOf(found: PluginPackage, loaded: Plugin): Promise<PluginSubject | undefined> {
  const entries = [directory, project]
    .flatMap((from) => discoverPlugins(from, {}, from, undefined, () => undefined))
    .filter(({ name }, i, all) => name !== found.name && all.findIndex((other) => other.name === name) === i);
  const plugins: Plugin[] = [loaded];
  const wanted = [...(found.manifest.requires ?? [])];
  const taken = new Set<string>();
  for (const id of wanted) {
    const entry = entries.find(({ provides }) => provides.some((each) => each === id || each.startsWith(`${id}@`)));
    if (entry === undefined || taken.has(entry.name)) continue;
    taken.add(entry.name);
    wanted.push(...entry.requires);
    send({ event: "provider", name: entry.name, requirement: id, nextMs: IMPORT_MS });
    try {
      plugins.push(await entry.load((provision) => requiredSandboxes(entries, provision)));
    } catch (error) {
      const { message } = faultOf(error);
      report(
        "REQUIREMENT_MISSING",
        new Error(`${id} is provided by ${entry.name}, which cannot be loaded: ${message}`),
      );
      return undefined;
    }
  }
  const packageJson = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Record<string, unknown>;
  return { directory, packageJson, plugin: loaded, plugins, attack };
}

async function check(subject: PluginSubject, part: string): Promise<void> {
  current = part;
  let isOpenable = true;
  for await (const event of checkPlugin(subject, { only: [part], quick })) {
    if (event.event === "started") send({ ...event, nextMs: event.timeoutMs + GRACE_MS });
    else send(event);
    if (event.event !== "finding") continue;
    if (event.finding.severity === "error") isOpenable = false;
    if (event.finding.code === "CHECK_TIMEOUT") isHanging = true;
  }
  const definition = subject.plugin.environments?.find(({ id }) => part === `environment:${id}`);
  if (definition !== undefined && isOpenable && !quick)
    send({ event: "speed", subject: part, speeds: await measureEnvironment(subject.plugins, definition) });
  const after = globalChanges(before).filter((change) => !known.includes(change));
  if (after.length > 0) reportChanges(after);
  send({ event: "part", subject: part });
}

async function sendBehaviour(subject: PluginSubject): Promise<void> {
  send({ event: "phase", name: "behaviour", nextMs: 120_000 });
  const most = request.onlyBehaviour === true ? OTHER_FIXTURES : undefined;
  send({ event: "behaviour", environments: await recordBehaviour(subject, most), variables });
}

function reportChanges(changed: readonly string[]): void {
  const more = changed.length > 5 ? ` and ${changed.length - 5} more` : "";
  const [first = ""] = changed;
  const message = `Its code changed ${changed.slice(0, 5).join(", ")}${more}, which all code of the process shares.`;
  report("GLOBAL_CHANGED", new Error(message), first.split(".").at(-1));
}

/** Reports what the import started and left running. A host cannot end it: it has neither an episode nor an environment. */
async function reportProcesses(): Promise<void> {
  let left = started();
  for (
    const deadline = performance.now() + PROCESS_MS;
    left.length > 0 && performance.now() < deadline;
    left = started()
  )
    await delay(50);
  const [first] = left;
  if (first === undefined) return;
  const which = left.length === 1 ? "a process that still runs" : `${left.length} processes that still run`;
  const program = basename(first.command.split(" ", 1)[0] ?? "");
  report("RESOURCE_LEAKED", new Error(`Its import started ${which}: ${first.command.slice(0, 100)}.`), program);
}

function reportOutput(): void {
  const fault = faultOfOutput(printed());
  if (fault !== undefined) report("OUTPUT_EXCESSIVE", new Error(fault.message));
}

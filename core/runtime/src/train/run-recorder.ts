import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { type JsonObject, type JsonValue, MrlmError } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentPackage } from "@mrlm/spec/host";
import { placeOfRun, runOfStore } from "@mrlm/store";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import type { Checkpoint } from "../run/checkpoints.ts";
import { finishedModel } from "../run/finished-model.ts";
import type { RunDirectory } from "../run/run-directory.ts";
import { describeChange, diffConfigs } from "../resume/config-diff.ts";
import { learningSettings } from "../resume/resume-compatibility.ts";
import type { RunSummary } from "./run-events.ts";

type RecordedEnvironments = Readonly<Record<string, EnvironmentPackage>>;

/** Writes run.json: start, versions, resumptions and result of a run. */
export class RunRecorder {
  /** Id of the run, which its episode store has too. It stays where the directory is renamed or copied. */
  readonly id: string;
  readonly #run: RunDirectory;
  readonly #before: JsonObject;
  readonly #record: JsonObject;

  /**
   * @param from checkpoint from which the run is resumed
   * @param storeUrl database of its episode store, in place of a file
   */
  constructor(
    run: RunDirectory,
    about: JsonObject,
    versions: JsonObject,
    { from, storeUrl }: { readonly from?: string | undefined; readonly storeUrl?: string | undefined } = {},
  ) {
    const now = new Date().toISOString();
    this.#run = run;
    this.#before = run.readRecord();
    const resumed = [
      ...((this.#before["resumed"] as JsonValue[] | undefined) ?? []),
      ...(this.hasBegunBefore ? [{ at: now, from: from ?? null }] : []),
    ];
    this.id = idOfRun(run) ?? randomUUID();
    const store: JsonObject = storeUrl === undefined ? {} : { store: placeOfRun(storeUrl, this.id) };
    // The configuration of a resumed run names directories: their origin is in the record alone.
    const { models } = this.#before;
    const origin: JsonObject = models === undefined ? {} : { models };
    this.#record = {
      id: this.id,
      ...store,
      ...origin,
      ...about,
      started: this.#before["started"] ?? now,
      resumed,
      versions,
    };
    run.writeRecord({ ...this.#record, status: "running" });
  }

  /** Packages that provide the environments now. */
  get environments(): RecordedEnvironments {
    return this.#record["environments"] as unknown as RecordedEnvironments;
  }

  /** Whether another process has trained the run before. */
  get hasBegunBefore(): boolean {
    return this.#before["started"] !== undefined;
  }

  /** Returns a notice for each version or setting that differs from before the resumption, since last bits may differ. */
  differences(): string[] {
    const { git_commit: _, ...before } = (this.#before["versions"] as JsonObject | undefined) ?? {};
    if (Object.keys(before).length === 0) return [];
    const { git_commit: __, ...now } = this.#record["versions"] as JsonObject;
    return diffConfigs(before, now).map(
      (change) =>
        `The run continues with other versions or settings than before, so it may not be bit-identical: ${describeChange(change)}.`,
    );
  }

  /** Returns the changes of what decides the result since the run was last trained, for a run that begins anew: no checkpoint refuses them. */
  settingDifferences(): string[] {
    const before = this.#before["settings"];
    return before === undefined ? [] : diffConfigs(before, this.#record["settings"]).map(describeChange);
  }

  /** Returns a notice for each environment whose package or recorded behaviour differs from before the resumption. */
  environmentDifferences(): string[] {
    const before = (this.#before["environments"] as RecordedEnvironments | undefined) ?? {};
    return Object.entries(this.environments).flatMap(([id, now]) => {
      const changes = packageChanges(before[id], now);
      return changes.length === 0
        ? []
        : [`Environment ${id} has changed since the run was last trained: ${changes.join("; ")}.`];
    });
  }

  /** Records that a server offers an environment in another package than before. @returns a notice, if it does */
  environmentSeen({ id, providedBy: now }: EnvironmentDescription): string[] {
    const { environments } = this;
    const was = environments[id];
    const changes = now === undefined ? [] : packageChanges(was, now);
    if (changes.length === 0) return [];
    const earlier = (this.#record["environment_changes"] as JsonValue[] | undefined) ?? [];
    const change = { environment: id, at: new Date().toISOString(), from: was, to: now };
    this.add(
      JSON.parse(
        JSON.stringify({ environments: { ...environments, [id]: now }, environment_changes: [...earlier, change] }),
      ) as JsonObject,
    );
    return [`Environment ${id} has changed during the run: ${changes.join("; ")}.`];
  }

  add(fields: JsonObject): void {
    Object.assign(this.#record, fields);
    this.#run.writeRecord({ ...this.#record, status: "running" });
  }

  ended(summary: RunSummary): void {
    const { status, steps, seconds, trainingSeconds, evaluations } = summary;
    this.#run.writeRecord({
      ...this.#record,
      status,
      ended: new Date().toISOString(),
      ...(JSON.parse(JSON.stringify({ steps, seconds, trainingSeconds, evaluations })) as JsonObject),
    });
  }

  failed(error: unknown): void {
    writeFailure(this.#run, this.#record, error);
  }
}

/** Returns the id of a run, also where its run.json was moved away; `undefined` for a run that has not begun. */
export function idOfRun(run: RunDirectory): string | undefined {
  const { id } = run.readRecord();
  return typeof id === "string" ? id : runOfStore(run.episodesPath);
}

/** Records the error that ended a run before its training began. */
export function recordFailure(run: RunDirectory, error: unknown): void {
  writeFailure(run, run.readRecord(), error);
}

/** Describes the differences between two packages of an environment; none if the earlier one is unknown. */
function packageChanges(was: EnvironmentPackage | undefined, now: EnvironmentPackage): string[] {
  if (was === undefined) return [];
  return [
    ...(was.name === now.name && was.version === now.version
      ? []
      : [`it comes from ${now.name} ${now.version}, before from ${was.name} ${was.version}`]),
    ...(was.behaviour === now.behaviour
      ? []
      : [
          was.behaviour === undefined || now.behaviour === undefined
            ? `its package ${now.behaviour === undefined ? "no longer records" : "now records"} its behaviour`
            : "its recorded behaviour is another one",
        ]),
  ];
}

function writeFailure(run: RunDirectory, record: JsonObject, error: unknown): void {
  try {
    run.writeRecord({ ...record, status: "failed", ended: new Date().toISOString(), error: describeError(error) });
  } catch {
    // The disk may be full, which the error then reports.
  }
}

function describeError(error: unknown): JsonObject {
  if (!MrlmError.isInstance(error))
    return { code: "INTERNAL", message: error instanceof Error ? error.message : String(error) };
  return { code: error.code, message: error.message, ...(error.hint === "" ? {} : { hint: error.hint }) };
}

/** Returns the result of a run that has finished, has its model, and has not been extended since; else `undefined`. */
export function finishedSummary(
  run: RunDirectory,
  checkpoint: Checkpoint,
  config: ResolvedConfig,
): RunSummary | undefined {
  const record = run.readRecord();
  if (record["status"] !== "finished" || !existsSync(finishedModel(run, config))) return undefined;
  if (diffConfigs(checkpoint.state["learning"], learningSettings(config)).length > 0) return undefined;
  const { steps, seconds, trainingSeconds, evaluations } = record as unknown as RunSummary;
  return {
    status: "finished",
    directory: run.path,
    steps,
    seconds,
    trainingSeconds,
    evaluations,
    model: finishedModel(run, config),
  };
}

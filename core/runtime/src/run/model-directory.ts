import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { MrlmError } from "@mrlm/spec";
import { checkpointModel, Checkpoints, isCheckpoint } from "./checkpoints.ts";

/** What a path to a model stands for. */
export interface NamedModel {
  /** An ordinary Hugging Face directory, unless the path is none and leads nowhere. */
  readonly path: string;
  /** The run that trained it, where it lies in one. */
  readonly run: string | undefined;
  /** What someone should know who named a run. */
  readonly notice?: string;
}

/**
 * Finds the Hugging Face directory that a path stands for: a run's directory stands for its model, or, before it has finished, for its newest complete
 * checkpoint; a checkpoint for the model in it; anything else for itself. Rejects with MODEL_DIRECTORY_MISSING for a run that has neither, and with
 * CHECKPOINT_INCOMPLETE for a damaged checkpoint.
 */
export async function modelDirectory(given: string): Promise<NamedModel> {
  const path = resolve(given);
  if (isCheckpoint(path)) return { path: await checkpointModel(path), run: runOf(path) };
  if (isRun(path)) return ofRun(path);
  const parent = dirname(path);
  return basename(path) === "checkpoints" && isRun(parent) ? ofRun(parent) : { path, run: runOf(path) };
}

/** The adapter of a model that a run with `model.lora` has written; any other directory stands for itself. */
export function adapterDirectory(model: string): string {
  const adapter = join(model, "adapter");
  return existsSync(adapter) ? adapter : model;
}

async function ofRun(run: string): Promise<NamedModel> {
  const { status } = JSON.parse(readFileSync(join(run, RECORD), "utf8")) as { readonly status?: string };
  const model = join(run, "model");
  if (status === "finished" && existsSync(model)) return { path: model, run };
  const checkpoints = new Checkpoints(run);
  const faults: string[] = [];
  for (const name of checkpoints.names()) {
    try {
      const path = await checkpointModel(checkpoints.path(name));
      return {
        path,
        run,
        notice: [`The run ${run} has not finished: the model of its checkpoint ${name} is used.`, ...faults].join(" "),
      };
    } catch (error) {
      if (!MrlmError.hasCode(error, "CHECKPOINT_INCOMPLETE", "MODEL_DIRECTORY_MISSING")) throw error;
      faults.push(error.message);
    }
  }
  const reason =
    faults.length > 0
      ? `none of its checkpoints can be used. ${faults.join(" ")}`
      : "it has written no checkpoint yet.";
  throw new MrlmError("MODEL_DIRECTORY_MISSING", `The run ${run} has no model: it has not finished, and ${reason}`, {
    hint: `Go on with it: npx mrlm train --resume ${run}`,
  });
}

/** The run whose model or checkpoint, or the model of whose checkpoint, this is. */
function runOf(path: string): string | undefined {
  const above = [dirname(path), dirname(dirname(path)), dirname(dirname(dirname(path)))];
  return above.find(isRun);
}

function isRun(path: string): boolean {
  return existsSync(join(path, RECORD)) && existsSync(join(path, "config.yaml"));
}

const RECORD = "run.json";

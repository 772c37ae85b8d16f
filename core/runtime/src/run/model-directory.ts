import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { MrlmError, type PolicyId } from "@mrlm/spec";
import type { StoredModel } from "@mrlm/spec/host";
import { isFetched } from "../config/sections/values.ts";
import { didYouMean } from "../names/nearest.ts";
import { checkpointModel, Checkpoints, chosenFolder, isCheckpoint, modelFolder, policyFolders } from "./checkpoints.ts";
import { adapterBase, isAdapter } from "./adapter-base.ts";
import { RunDirectory } from "./run-directory.ts";

/** Model that a path names. */
export interface NamedModel {
  /** Hugging Face directory, or the given path if it names neither a run nor a checkpoint. */
  readonly path: string;
  /** Run that contains the model, if any. */
  readonly run: string | undefined;
  /** The policy, where the run trains several. */
  readonly policy?: PolicyId;
  /** Base model of an adapter of peft, which `path` then names. */
  readonly base?: string;
  /** Notice for the user who named a run. */
  readonly notice?: string;
}

/** Brings a model to this machine: `hub:ORG/NAME[@REVISION]`, or a GGUF file. */
export type FetchModel = (name: string) => Promise<StoredModel>;

/**
 * Finds the Hugging Face directory that a path names. The path of a run names its model or, before it has finished, the model of its newest complete
 * checkpoint. The path of a checkpoint names the model in it. Any other path names itself. Rejects with MODEL_DIRECTORY_MISSING for a run that has neither, and with
 * CHECKPOINT_INCOMPLETE for a damaged checkpoint, and USAGE for several policies of which none is named.
 * @param policy one of several that the run trains
 * @param fetch for models of the hub, GGUF files, and the base models of adapters of peft
 */
export async function modelDirectory(given: string, policy?: PolicyId, fetch?: FetchModel): Promise<NamedModel> {
  if (fetch === undefined) return withPolicy(await namedModel(resolve(given), policy));
  const local = async (model: string): Promise<string> => (isFetched(model) ? (await fetch(model)).directory : model);
  const named = await modelDirectory(await local(given), policy);
  if (named.run !== undefined || !isAdapter(named.path)) return named;
  return { ...named, base: await local(adapterBase(named.path)) };
}

/** Adds the policy to a model of `models/NAME`, the folder of a run or of one of its checkpoints. */
function withPolicy(named: NamedModel): NamedModel {
  const isOfSeveral = named.run !== undefined && named.path.endsWith(modelFolder(basename(named.path)));
  return isOfSeveral ? { ...named, policy: basename(named.path) } : named;
}

async function namedModel(path: string, policy: PolicyId | undefined): Promise<NamedModel> {
  if (isCheckpoint(path)) return { path: await checkpointModel(path, policy), run: runOf(path) };
  if (isRun(path)) return ofRun(path, policy);
  const parent = dirname(path);
  return basename(path) === "checkpoints" && isRun(parent) ? ofRun(parent, policy) : { path, run: runOf(path) };
}

/**
 * Throws MODEL_DIRECTORY_MISSING, with the nearest name beside it, or MODEL_DIRECTORY_INVALID.
 * @param place of the path in a configuration, for the messages
 */
export function assertModelDirectory(path: string, place?: string): void {
  const at = place === undefined ? "" : `${place}: `;
  if (!existsSync(path) || !statSync(path).isDirectory())
    throw new MrlmError(
      "MODEL_DIRECTORY_MISSING",
      `${at}There is no model directory ${path}.${nearestDirectory(path)}`,
    );
  if (isAdapter(path))
    throw new MrlmError("MODEL_DIRECTORY_INVALID", `${at}${path} is an adapter of peft, and no model.`, {
      hint: "Name its base model as the model, and the adapter as `model.lora.path`.",
    });
  const lacking = ["config.json", "tokenizer.json"].filter((name) => !existsSync(join(path, name)));
  if (lacking.length === 0) return;
  const gguf = readdirSync(path).find((name) => name.endsWith(".gguf"));
  throw new MrlmError(
    "MODEL_DIRECTORY_INVALID",
    `${at}${path} is not a Hugging Face model: it lacks ${lacking.join(" and ")}.`,
    gguf === undefined ? {} : { hint: `Name the GGUF file in it: \`model: { gguf: ${join(path, gguf)} }\`.` },
  );
}

/** Returns ` Did you mean "x"?` for the most similar name in the same directory, or an empty text. */
function nearestDirectory(path: string): string {
  const parent = dirname(path);
  if (!existsSync(parent) || !statSync(parent).isDirectory()) return "";
  const names = readdirSync(parent, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [] : [entry.name]));
  return didYouMean(basename(path), names);
}

/** Returns the adapter directory of a model that a run with `model.lora` wrote, or the given directory if it has none. */
export function adapterDirectory(model: string): string {
  const adapter = join(model, "adapter");
  return existsSync(adapter) ? adapter : model;
}

/** Returns the names of the policies that a run or a checkpoint has models of; none where it trains one. */
export function policiesOf(given: string): readonly PolicyId[] {
  const path = resolve(given);
  if (isCheckpoint(path)) return policyFolders(path);
  const checkpoints = new Checkpoints(path);
  const [newest] = checkpoints.names();
  return isRun(path) && newest !== undefined ? policyFolders(checkpoints.path(newest)) : [];
}

async function ofRun(run: string, policy: PolicyId | undefined): Promise<NamedModel> {
  const { status } = RunDirectory.open(run).readRecord();
  const model = join(run, status === "finished" ? chosenFolder(run, policy) : modelFolder());
  if (status === "finished" && existsSync(model)) return { path: model, run };
  const checkpoints = new Checkpoints(run);
  const faults: string[] = [];
  for (const name of checkpoints.names()) {
    try {
      const path = await checkpointModel(checkpoints.path(name), policy);
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
    hint: `Continue it: npx mrlm train --resume ${run}`,
  });
}

/** Returns the run that contains a model, a checkpoint or the model of a checkpoint. */
function runOf(path: string): string | undefined {
  // RUN/model, RUN/models/NAME, RUN/checkpoints/STEP/models/NAME
  const above = [path];
  for (let i = 0; i < 4; i++) above.unshift(dirname(above[0] as string));
  return above.toReversed().slice(1).find(isRun);
}

function isRun(path: string): boolean {
  return existsSync(join(path, RECORD)) && existsSync(join(path, "config.yaml"));
}

const RECORD = "run.json";

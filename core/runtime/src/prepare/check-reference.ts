import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PolicyId } from "@mrlm/spec";
import { configError } from "../config/config-problems.ts";
import { isRemote } from "../config/engines.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { located } from "../config/located.ts";
import { trainedPolicy } from "../config/policies.ts";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { assertSameTokens, type TokenizerFiles } from "./same-tokens.ts";
import { policyOptions } from "./model-source.ts";

/**
 * Checks `reference_model` of a learner. Throws CONFIG_INVALID or TOKENIZER_MISMATCH.
 * @param needs whether the algorithm evaluates a reference under its options, and whether it must be another model
 */
export function checkReference(
  { loaded, config }: { readonly loaded: LoadedConfig; readonly config: ResolvedConfig },
  index: number,
  policy: PolicyId,
  { isUsed, isTeacher }: { readonly isUsed: boolean; readonly isTeacher: boolean },
): void {
  const learner = config.stages[index]?.learners[policy];
  const reference = learner?.reference_model;
  if (isTeacher && reference?.path === undefined)
    throw configError(loaded.source, [
      {
        path: loaded.learnerPath(index, policy, []),
        at: "value",
        text: `${learner?.algorithm} has no teacher: \`reference_model: { path: ... }\` names a directory, run or checkpoint`,
      },
    ]);
  if (reference === undefined) return;
  const place = loaded.learnerPath(index, policy, ["reference_model"]);
  const refuse = (key: string | undefined, text: string): never => {
    const path = key === undefined ? place : [...place, key];
    throw configError(loaded.source, [{ path, at: "key", text }]);
  };
  if (!isUsed)
    refuse(
      undefined,
      `reference_model has no effect: ${learner?.algorithm} evaluates no reference under these options`,
    );
  const { path, reset_every, ema } = reference;
  if (path === undefined && reset_every === undefined && ema === undefined)
    refuse(undefined, "reference_model is empty: give a `path`, `reset_every` or `ema`, or leave it out");
  if (reset_every !== undefined && ema !== undefined)
    refuse("ema", "reference_model has both `reset_every` and `ema`: the reference follows the policy in one way");
  if (ema !== undefined && trainedPolicy(config, policy).model.lora !== undefined)
    refuse(
      "ema",
      "the average of adapters' factors is no average of weights: with `lora` set `reset_every`, or train without adapters",
    );
  if (path !== undefined) assertReadsTokens(path, config, policy, loaded.source.locate([...place, "path"]));
}

/** Throws TOKENIZER_MISMATCH for the directory of a model with other tokens than the policy. A remote engine reads its own disk, and the run checks later. */
function assertReadsTokens(path: string, config: ResolvedConfig, policy: PolicyId, place: string): void {
  if (isRemote(config)) return;
  const { source } = policyOptions(config, policy);
  if (source.kind !== "directory" && source.kind !== "random") return;
  const files = source.kind === "directory" ? tokenizerOf(source.path) : source.tokenizerFiles;
  try {
    assertSameTokens({ policy, files }, { name: path, files: tokenizerOf(path) });
  } catch (error) {
    throw located(error, place);
  }
}

function tokenizerOf(directory: string): TokenizerFiles {
  return { "tokenizer.json": new Uint8Array(readFileSync(join(directory, "tokenizer.json"))) };
}

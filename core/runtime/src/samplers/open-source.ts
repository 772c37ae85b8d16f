import { type JsonObject, MrlmError } from "@mrlm/spec";
import type { ExternalSampler } from "@mrlm/spec/host";
import type { AlgorithmSource } from "../plugins/plugin-kinds.ts";
import { describeIssues, validateOptions } from "../plugins/standard-options.ts";

/** Connects to the server of a sampler plugin. Rejects with OPTIONS_INVALID, and with SAMPLER_UNAVAILABLE where nothing answers. */
export async function openSamplerSource(
  plugins: Pick<AlgorithmSource, "sampler">,
  name: string,
  opening: { readonly url: string; readonly options: JsonObject; readonly signal: AbortSignal },
): Promise<ExternalSampler> {
  const source = await plugins.sampler(name);
  if (source.options === undefined) return await source.open({ ...opening, options: {} });
  const outcome = await validateOptions(source.options, opening.options);
  if (!outcome.ok)
    throw new MrlmError(
      "OPTIONS_INVALID",
      `Options of sampler ${name}: ${describeIssues(outcome.issues, source.options)}.`,
    );
  return await source.open({ ...opening, options: outcome.value });
}

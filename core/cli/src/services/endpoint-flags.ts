import { ENDPOINT_URL, isEndpointUrl, type MeasuredEndpoint } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import type { RolloutOptions } from "../declarations/flag-groups.ts";

/** Flags that name a model of an endpoint. */
type EndpointOptions = Pick<RolloutOptions, "model" | "baseUrl" | "modelOptions">;

const PREFIX = "openai:";
const OPENAI = "https://api.openai.com/v1";

/**
 * Returns the model of an endpoint that `--model openai:NAME` names; `undefined` for a model directory. The address is that of `--base-url`, else of
 * OPENAI_BASE_URL. The key is in OPENAI_API_KEY, which an endpoint without keys need not have.
 * @throws USAGE
 */
export function endpointOfFlags({ model, baseUrl, modelOptions }: EndpointOptions): MeasuredEndpoint | undefined {
  if (!model.startsWith(PREFIX)) {
    const flag = baseUrl !== undefined ? "--base-url" : modelOptions !== undefined ? "--model-options" : undefined;
    if (flag === undefined) return undefined;
    throw new MrlmError("USAGE", `${flag} is for a model of an endpoint: --model ${PREFIX}NAME.`);
  }
  const name = model.slice(PREFIX.length);
  if (name === "") throw new MrlmError("USAGE", `--model ${PREFIX} names no model.`);
  const { OPENAI_BASE_URL: ofEnvironment = "", OPENAI_API_KEY: key = "" } = process.env;
  const endpoint = baseUrl ?? (ofEnvironment === "" ? OPENAI : ofEnvironment);
  if (!isEndpointUrl(endpoint))
    throw new MrlmError("USAGE", `${baseUrl === undefined ? "OPENAI_BASE_URL" : "--base-url"} ${ENDPOINT_URL}.`);
  return {
    endpoint,
    model: name,
    ...(key !== "" || endpoint === OPENAI ? { api_key_env: "OPENAI_API_KEY" } : {}),
    options: modelOptions ?? {},
  };
}

import { MrlmError } from "@mrlm/spec";
import OpenAI from "openai";

/**
 * Creates a client of the openai package that sends by `fetch`. Every setting that the package would read from its environment variables is stated, but
 * OPENAI_CUSTOM_HEADERS, which no option replaces.
 * @throws OPTIONS_INVALID
 */
export function openaiClient(baseURL: string, fetch: typeof globalThis.fetch): OpenAI {
  try {
    return new OpenAI({
      baseURL,
      apiKey: "unused", // the sender of the request sets the header
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      logLevel: "off",
      fetch,
    });
  } catch {
    // Its error has the value of the variable, which may be a key.
    const message =
      "The openai package cannot be used: the environment variable OPENAI_CUSTOM_HEADERS has no valid headers.";
    throw new MrlmError("OPTIONS_INVALID", message, { hint: "Unset OPENAI_CUSTOM_HEADERS. Its headers are not sent." });
  }
}

import OpenAI from "openai";

/** Creates a client of the openai package that sends by `fetch`. Every setting that the package would read from its environment variables is stated. */
export function openaiClient(baseURL: string, fetch: typeof globalThis.fetch): OpenAI {
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
}

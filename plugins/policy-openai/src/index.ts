/** Models behind OpenAI-compatible endpoints as players of roles. */
import { definePlugin } from "@mrlm/kit";
import { EndpointSource } from "./endpoint-source.ts";

export default definePlugin({
  name: "@mrlm/policy-openai",
  policies: { "openai@1": ({ dataPath }) => new EndpointSource({ dataPath }) },
  examples: {
    endpoint: ({ messages }) => `answer to ${messages.length} messages`,
    policies: { "openai@1": { options: ({ baseUrl }) => ({ base_url: baseUrl, model: "m" }) } },
  },
});

import type { ToolDefinition } from "@mrlm/spec";

/** Tool of every environment by which a model answers with a text. */
export const SUBMIT: ToolDefinition = {
  name: "submit",
  description: "Answers with a text. It ends the episode, unless the environment replies to it.",
  parameters: {
    type: "object",
    properties: { text: { type: "string", description: "The answer, in the form that the task asks for." } },
    required: ["text"],
    additionalProperties: false,
  },
};

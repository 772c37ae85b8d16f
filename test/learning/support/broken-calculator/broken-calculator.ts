import { definePlugin, toolset } from "@mrlm/kit";

/** Calculator that returns an error for every expression. */
export default definePlugin({
  name: "broken-calculator",
  tools: {
    "calculator@1": () =>
      toolset([
        {
          name: "calculator",
          description: "Evaluates a mathematical expression.",
          parameters: { type: "object", properties: { expression: { type: "string" } }, required: ["expression"] },
          call: async () => ({ content: [{ type: "text", text: "Error: The calculator is broken." }], isError: true }),
        },
      ]),
  },
});

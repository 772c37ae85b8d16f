/** Codes of tools. */
export const TOOL_CODES = {
  TOOL_CONFLICT: {
    meaning: "Two tools of one environment have the same name.",
    hint: "Leave one toolset out, or rename the tool by an option of its plugin.",
    retryable: false,
  },
  TOOLS_UNSUPPORTED: {
    meaning:
      "An environment offers tools that the model's chat template does not show, or the model writes calls in a form that no parser reads.",
    hint: "Set `model.tool_format`, which writes the tools into the system message where the template renders none, or use a model whose template renders tools.",
    retryable: false,
  },
  TOOL_FAILED: {
    meaning: "A tool is broken; the step that called it has no reward.",
    hint: "The reward is unscored and counted; read the quoted cause.",
    retryable: false,
  },
} as const;

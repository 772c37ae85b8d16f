/** Error codes that concern the whole run and not one episode. */
export const FATAL = [
  "CANCELLED",
  "ENGINE_EXITED",
  "ENGINE_UNAVAILABLE",
  "SERVER_UNAVAILABLE",
  "TOOLS_UNSUPPORTED",
] as const;

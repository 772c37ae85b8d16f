import type { Tool, Toolset } from "@mrlm/spec";

/** Returns a toolset of tools without state, which all episodes share. */
export function statelessTools(...tools: readonly Tool[]): Toolset {
  const opened = { tools, close: async () => undefined };
  return { definitions: tools, open: async () => opened };
}

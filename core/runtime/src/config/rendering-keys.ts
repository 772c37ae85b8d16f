import { defined } from "@mrlm/spec";
import type { ResolvedModel } from "./resolve-config.ts";

/** Keys of a model that decide how its conversations are rendered. */
export type RenderingKeys = Pick<ResolvedModel, "tool_format" | "merge_messages">;

/** Returns the options of a renderer. */
export function renderingOf({ tool_format: toolFormat, merge_messages: mergeMessages }: RenderingKeys) {
  return defined({ toolFormat, mergeMessages });
}

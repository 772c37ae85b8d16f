import type { ToolResult } from "@mrlm/kit";

/** Result that the policy reads. */
export const textResult = (text: string, { isTruncated = false } = {}): ToolResult => ({
  content: [{ type: "text", text }],
  isError: false,
  ...(isTruncated ? { truncated: true } : {}),
});

/** Failure that the policy reads, and may avoid by another call. */
export const errorResult = (text: string): ToolResult => ({ content: [{ type: "text", text }], isError: true });

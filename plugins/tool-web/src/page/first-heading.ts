/** Returns the first heading of a Markdown text; empty if it has none. */
export const firstHeading = (markdown: string): string => /^#{1,6} (.+)$/m.exec(markdown)?.[1]?.trim() ?? "";

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Root of the repository. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Code block of a page. */
export interface CodeBlock {
  readonly page: string;
  /** Line of its first line, from 1. */
  readonly line: number;
  /** `ts`, `yaml`, `sh`, `json`, `python`; "" for output and diagrams. */
  readonly language: string;
  readonly code: string;
  /**
   * Text of the HTML comment `<!-- code ... -->` before the block: the surroundings in which it compiles, with BLOCK in the place of the block. A reader of the rendered page does not see it.
   */
  readonly surroundings: string | undefined;
}

/** Returns the code blocks of all Markdown files that git knows, except those of recorded decisions and changes. */
export function codeBlocks(): CodeBlock[] {
  return pages().flatMap(({ page, text }) => blocksOf(page, text));
}

/** Returns the code spans of these files that are keys with a YAML map or list, such as `model: { path: my-model }`, as blocks. */
export function yamlSpans(): CodeBlock[] {
  return pages().flatMap(({ page, text }) =>
    Array.from(text.matchAll(/(?<!`)`([a-z_]+: (?:\{[^`]*\}|\[[^`]*\]))`/g), ({ 1: code = "", index }) => {
      const line = text.slice(0, index).split("\n").length;
      return { page, line, language: "yaml", code: code.replaceAll(/\s+/g, " "), surroundings: undefined };
    }),
  );
}

/** Returns the pages with their texts. */
function pages(): { readonly page: string; readonly text: string }[] {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return files
    .trim()
    .split("\n")
    .filter((page) => !/^(CHANGELOG\.md|docs\/decisions\/)/.test(page) && existsSync(join(ROOT, page)))
    .map((page) => ({ page, text: readFileSync(join(ROOT, page), "utf8") }));
}

function blocksOf(page: string, text: string): CodeBlock[] {
  return Array.from(
    text.matchAll(/(?:^<!-- code\n([^]*?)-->\n+)?^( *)```([\w-]*)[^\n]*\n([^]*?)^\2```$/gm),
    (match) => {
      const [, surroundings, indent = "", language = "", code = ""] = match;
      const start = text.slice(0, match.index + match[0].indexOf("```")).split("\n").length + 1;
      const lines = code.split("\n").map((line) => line.slice(indent.length));
      return { page, line: start, language, code: lines.join("\n"), surroundings };
    },
  );
}

import TurndownService from "turndown";
import { gfm } from "turndown-plugin-gfm";

/** Reads an attribute. The types of the DOM are not part of Node's. */
const attributeOf = (node: unknown, name: string): string | null =>
  (node as { getAttribute(name: string): string | null }).getAttribute(name);

/** Joins the lines of a heading, a link or a cell, which Markdown writes on one line. */
const oneLine = (text: string): string => text.trim().replace(/\s+/g, " ");

/** Marks at the start of a text that Markdown would read as structure. Other characters stay as they are: the reader is a model, not a renderer. */
const STRUCTURE = /^(#{1,6} |[-+*>] |\d+[.)] |={3,}|-{3,}|```|~~~)/;

/** Converts well nested HTML to Markdown (GitHub flavour). Needs linear time for pages that `tidyPage` prepared. */
export function toMarkdown(html: string): string {
  const service = new TurndownService({
    headingStyle: "atx",
    hr: "---",
    bulletListMarker: "-",
    codeBlockStyle: "fenced",
    emDelimiter: "*",
    br: "", // the converter joins newlines, but not spaces before newlines: many breaks would be a long run of white space
  });
  service.use(gfm);
  service.escape = (text) => text.replace(STRUCTURE, "\\$1");
  service.addRule("strikethrough", { filter: ["del", "s", "strike"], replacement: (content) => `~~${content}~~` });
  service.addRule("heading", {
    filter: ["h1", "h2", "h3", "h4", "h5", "h6"],
    replacement: (content, node) => `\n\n${"#".repeat(Number(node.nodeName.charAt(1)))} ${oneLine(content)}\n\n`,
  });
  service.addRule("inlineLink", {
    filter: (node) => node.nodeName === "A",
    replacement(content, node) {
      const href = attributeOf(node, "href") ?? "";
      // Escapes by percent signs, unlike those by backslashes, are part of the URL that a reader copies.
      return `[${oneLine(content)}](${href.replaceAll("(", "%28").replaceAll(")", "%29")})`;
    },
  });
  service.addRule("image", {
    filter: "img",
    replacement: (_content, node) => `![${attributeOf(node, "alt") ?? ""}](${attributeOf(node, "src") ?? ""})`,
  });
  // References to notes are links; other raised and lowered texts are formulas.
  service.addRule("script", {
    filter: ["sup", "sub"],
    replacement: (content, node) =>
      content.includes("[") ? content : `${node.nodeName === "SUP" ? "^" : "_"}${grouped(content.trim())}`,
  });
  service.addRule("quotation", { filter: "q", replacement: (content) => `“${content}”` });
  service.addRule("code", {
    filter: (node) => node.nodeName === "CODE" && node.parentNode?.nodeName !== "PRE",
    replacement: inlineCode,
  });
  service.addRule("listItem", {
    filter: "li",
    replacement(content, node) {
      const number = attributeOf(node, "data-number");
      const marker = number === null ? "- " : `${number}. `;
      const text = content
        .replace(/^\n+/, "")
        .trimEnd()
        .replaceAll("\n", `\n${" ".repeat(marker.length)}`);
      return `${marker}${text}\n`;
    },
  });
  service.addRule("tableCell", {
    filter: ["th", "td"],
    replacement: (content, node) =>
      `${node.previousSibling === null ? "|" : ""} ${oneLine(content).replaceAll("|", "\\|")} |`,
  });
  service.addRule("definition", { filter: "dd", replacement: (content) => `\n\n: ${content.trim()}\n\n` });
  const lines = service.turndown(html).split("\n");
  return lines
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/\n{3,}/g, "\n\n");
}

const grouped = (text: string): string => (/^(\w+|.)$/u.test(text) ? text : `(${text})`);

/** Writes inline code between more backticks than it contains in a row. */
function inlineCode(content: string): string {
  const text = oneLine(content);
  if (text === "") return "";
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).slice(0, 1000).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  const space = longest > 0 ? " " : "";
  return `${fence}${space}${text}${space}${fence}`;
}

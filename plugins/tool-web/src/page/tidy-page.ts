import { type ChildNode, Element, type ParentNode, Text } from "domhandler";
import { createElement, elementsBelow, type Replacement, rewriteTree, setChildren, textOf } from "./dom.ts";
import { flattenTables } from "./flatten-tables.ts";
import { BLOCKS } from "./html-names.ts";
import { collapseSpaces, visibleText } from "./text.ts";

/** Elements that are kept without content. */
const NEVER_BLANK = new Set(["br", "hr", "img", "input", "td", "th", "tr", "thead", "tbody", "table"]);
/** Blocks that the Markdown converter takes for inline elements. */
const UNKNOWN_BLOCKS = new Set(["details", "dialog", "legend", "search", "summary", "caption"]);
/** Inline elements that Markdown cannot write around blocks. */
const EMPHASIS = new Set(["b", "strong", "i", "em", "cite", "s", "del", "strike", "code", "mark", "span"]);

/**
 * Prepares the body of a page for the Markdown converter: links become absolute, tables regular, code blocks plain text; white space is normalised, and
 * elements without content are removed. The converter needs more than linear time for some of these.
 * @param base URL that links are relative to
 */
export function tidyPage(body: ParentNode, base: string): void {
  for (const pre of elementsBelow(body, new Set(["pre"]))) tidyPre(pre);
  rewriteTree(body, (node) => tidyNode(node, base));
  flattenTables(body);
  rewriteTree(body, (node) => (node instanceof Element ? tidyStructure(node) : [node]));
  for (const list of elementsBelow(body, new Set(["ol"]))) numberItems(list);
}

/** Makes the content of a code block one text in one `code` element, with the language in its class. */
function tidyPre(pre: Element): void {
  const classes = [pre, ...elementsBelow(pre, new Set(["code"])).slice(0, 1), pre.parent].map((node) =>
    node instanceof Element ? (node.attribs["class"] ?? "") : "",
  );
  const language = /(?:^|\s)(?:language-|lang-|highlight-source-|brush:\s?)([\w+#-]{1,20})/.exec(
    classes.join(" "),
  )?.[1];
  const text = shortenSpaces(visibleText(textOf(pre)))
    .replace(/^\n/, "")
    .trimEnd();
  setChildren(pre, [
    createElement("code", language === undefined ? {} : { class: `language-${language}` }, [new Text(text)]),
  ]);
}

/** Limits runs of white space. The converter searches the end of its text in quadratic time of such a run. */
function shortenSpaces(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/\s/g, " ").trimEnd());
  return lines
    .join("\n")
    .replace(/ {400,}/g, " ".repeat(400))
    .replace(/\n{50,}/g, "\n".repeat(50));
}

function tidyNode(node: ChildNode, base: string): Replacement {
  if (node instanceof Text) {
    const isCode =
      node.parent instanceof Element &&
      node.parent.name === "code" &&
      node.parent.parent instanceof Element &&
      node.parent.parent.name === "pre";
    if (!isCode) node.data = collapseSpaces(node.data);
    return [node];
  }
  if (!(node instanceof Element)) return [];
  if (node.name === "title" || node.name === "base") return [];
  if (node.name === "a") return tidyLink(node, base);
  if (node.name === "img") return tidyImage(node, base);
  return [node];
}

function tidyLink(link: Element, base: string): Replacement {
  const href = absoluteUrl(link.attribs["href"], base);
  if (href === undefined) return link.children;
  link.attribs = { href };
  // `<a><h2>title</h2></a>` becomes `<h2><a>title</a></h2>`: a heading stays a heading.
  const [only, ...others] = link.children.filter((child) => !(child instanceof Text) || child.data.trim() !== "");
  if (!(only instanceof Element) || others.length > 0 || !/^h[1-6]$/.test(only.name)) return [link];
  setChildren(link, only.children);
  setChildren(only, [link]);
  return [only];
}

function tidyImage(image: Element, base: string): Replacement {
  const alt = collapseSpaces(image.attribs["alt"] ?? "").trim();
  const src = absoluteUrl(image.attribs["src"], base);
  if (alt === "") return [];
  if (src === undefined) return [new Text(alt)];
  image.attribs = { src, alt };
  return [image];
}

function absoluteUrl(reference: string | undefined, base: string): string | undefined {
  const text = reference?.trim() ?? "";
  if (text === "" || text.startsWith("#")) return undefined;
  const url = URL.parse(text, base);
  return url !== null && /^(https?|mailto|ftp):$/.test(url.protocol) ? url.href : undefined;
}

/** Removes elements without content, and emphasis around blocks. */
function tidyStructure(element: Element): Replacement {
  if (UNKNOWN_BLOCKS.has(element.name)) element.name = "div";
  if (element.name === "br" && isAfterBreak(element)) return [new Element("div", {})];
  if (NEVER_BLANK.has(element.name)) return [element];
  const hasContent = element.children.some(
    (child) => child instanceof Element || (child instanceof Text && child.data.trim() !== ""),
  );
  if (!hasContent) return element.children.length > 0 ? [new Text(" ")] : [];
  const isAroundBlocks =
    EMPHASIS.has(element.name) && element.children.some((child) => child instanceof Element && BLOCKS.has(child.name));
  return isAroundBlocks ? element.children : [element];
}

/** Returns whether a line break follows another one. Two breaks are the end of a paragraph. */
function isAfterBreak({ prev }: ChildNode): boolean {
  const before = prev instanceof Text && prev.data.trim() === "" ? prev.prev : prev;
  return before instanceof Element && before.name === "br";
}

/** Writes the number of each item into an attribute: the converter would count the items before it, for each. */
function numberItems(list: Element): void {
  const start = Number.parseInt(list.attribs["start"] ?? "1", 10);
  let number = Number.isSafeInteger(start) ? start : 1;
  for (const item of list.children)
    if (item instanceof Element && item.name === "li") item.attribs["data-number"] = String(number++);
}

import { type CheerioAPI, load } from "cheerio";
import type { Element } from "domhandler";
import { type ConvertedPage, convertText, decodePage, MAX_CHARACTERS } from "./convert-text.ts";
import { elementsBelow } from "./dom.ts";
import { mainContent } from "./main-content.ts";
import { isHtml } from "./media-type.ts";
import { reduceHtml, type ReduceLimits } from "./reduce-html.ts";
import { removeHidden } from "./remove-hidden.ts";
import { collapseSpaces, visibleText } from "./text.ts";
import { tidyPage } from "./tidy-page.ts";
import { toMarkdown } from "./to-markdown.ts";

export interface PageSource {
  readonly bytes: Uint8Array;
  /** Header `content-type`; empty if the server sent none. */
  readonly contentType: string;
  /** URL that links are relative to. */
  readonly url: string;
  readonly isMainContentOnly: boolean;
  /** Omits Markdown: only the text of the page, by the method that needs the least time and memory. */
  readonly isPlain: boolean;
}

const LIMITS: ReduceLimits = { elements: 20_000, characters: MAX_CHARACTERS, depth: 60 };
const PLAIN_LIMITS: ReduceLimits = { elements: 30_000, characters: 200_000, depth: 30 };
const MAX_TITLE_CHARACTERS = 300;

/** Converts a page to Markdown. Text, JSON and XML stay as they are. Needs time that is linear in the size of the page. */
export function convertPage({ bytes, contentType, ...rest }: PageSource): ConvertedPage {
  const limits = rest.isPlain ? PLAIN_LIMITS : LIMITS;
  if (!isHtml(contentType, bytes)) return convertText(bytes, contentType, limits.characters);
  const { text, isCut } = decodePage(bytes, contentType);
  const page = convertHtml(text, limits, rest);
  return { ...page, isTruncated: page.isTruncated || isCut };
}

function convertHtml(
  source: string,
  limits: ReduceLimits,
  { url, isMainContentOnly, isPlain }: Omit<PageSource, "bytes" | "contentType">,
): ConvertedPage {
  const { html, css, isCssCut, isTruncated } = reduceHtml(source, limits);
  const notes: string[] = [];
  if (isPlain) return { title: "", markdown: plainText(html), isTruncated, notes };
  const $ = load(html);
  const title = collapseSpaces($("title").first().text()).trim().slice(0, MAX_TITLE_CHARACTERS).toWellFormed();
  const base = URL.parse($("base[href]").attr("href") ?? "", url)?.href ?? url;
  const isStyleCut = removeHidden($, bodyOf($), css) || isCssCut;
  if (isStyleCut)
    notes.push("The style sheets of the page were cut at a limit: text that a browser hides may be shown.");
  const content = isMainContentOnly
    ? mainContent($.html($("body").contents()), elementsBelow(bodyOf($)).length)
    : undefined;
  if (isMainContentOnly && content === undefined) notes.push("No main content was found; this is the whole page.");
  const main = content === undefined ? $ : load(content);
  tidyPage(bodyOf(main), base);
  return {
    title,
    markdown: toMarkdown(main.html(main("body").contents())),
    isTruncated: isTruncated || isStyleCut,
    notes,
  };
}

const bodyOf = ($: CheerioAPI): Element => $("body")[0] as unknown as Element;

/** Removes the tags of reduced HTML. */
function plainText(html: string): string {
  const text = html
    .replace(/<\/?(?:b|i|em|strong|a|span|code|sub|sup|u|s)(?:\s[^>]*)?>/g, "")
    .replace(/<[^>]*>/g, "\n");
  const decoded = text.replace(/&(lt|gt|amp|quot|nbsp|#39);/g, (_all, name: string) => ENTITIES[name] ?? "");
  return visibleText(decoded)
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n[ \n]*/g, "\n")
    .trim();
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', nbsp: " ", "#39": "'" };

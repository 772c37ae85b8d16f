import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";

/** A shorter text is more likely a wrong choice than the content of a page. */
const MIN_CHARACTERS = 200;
/** The search compares elements with their neighbours and ancestors, in a second tree. */
const MAX_ELEMENTS = 5000;
const MAX_CHARACTERS = 250_000;

/** Returns the HTML of the main content of a page, without menus and advertisements; undefined if none is found or the page is too large to search. */
export function mainContent(html: string, elements: number): string | undefined {
  if (elements > MAX_ELEMENTS || html.length > MAX_CHARACTERS) return undefined;
  const { document } = parseHTML(`<!doctype html><html><body>${html}</body></html>`);
  const article = new Readability(document as unknown as ConstructorParameters<typeof Readability>[0], {
    keepClasses: true,
  }).parse();
  const text = article?.textContent?.trim() ?? "";
  return text.length < MIN_CHARACTERS ? undefined : (article?.content ?? undefined);
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/** Elements whose content is never text of the page. */
export const SKIPPED = set("script style template svg iframe object applet audio video canvas datalist select");

/** Elements without content. */
export const VOID = set("br hr img input base wbr");

/** Elements that begin on a line of their own. */
export const BLOCKS = set(
  "address article aside blockquote caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup " +
    "legend li main nav ol p pre search section summary table tbody td tfoot th thead tr ul",
);

/** Inline elements with a form in Markdown, or a meaning to a reader. */
export const INLINE = set(
  "a abbr b cite code del dfn em i ins kbd mark q s samp small span strike strong sub sup tt u var",
);

/** Other names of elements that convert in the same way. */
export const ALIASES: ReadonlyMap<string, string> = new Map([
  ["dir", "ul"],
  ["menu", "ul"],
  ["image", "img"],
  ["listing", "pre"],
  ["xmp", "pre"],
  ["plaintext", "pre"],
]);

const TABLE_CONTENT = set("caption tbody td tfoot th thead tr");
const ROW_GROUPS = set("thead tbody tfoot");

/** Returns whether the start tag `name` ends the element `open` (optional end tags of HTML). */
export function endsByStart(open: string, name: string): boolean {
  if (open === "p") return name === "hr" || (BLOCKS.has(name) && !TABLE_CONTENT.has(name));
  if (open === "li") return name === "li";
  if (open === "dt" || open === "dd") return name === "dt" || name === "dd";
  if (open === "td" || open === "th") return name === "td" || name === "th" || name === "tr" || ROW_GROUPS.has(name);
  if (open === "tr") return name === "tr" || ROW_GROUPS.has(name);
  if (ROW_GROUPS.has(open)) return ROW_GROUPS.has(name);
  if (open === "caption") return name === "tr" || ROW_GROUPS.has(name);
  return false;
}

/** Elements that an end tag of another kind does not close: `</div>` in a cell does not end the table. */
const TABLE_PARTS = set("table thead tbody tfoot tr td th caption");

/** Returns whether the end tag `name` may look for its element beyond the open element `open`. */
export function passesEnd(open: string, name: string): boolean {
  if (open === "table") return false;
  if (open === "td" || open === "th" || open === "caption") return TABLE_PARTS.has(name);
  if (name === "li") return open !== "ul" && open !== "ol";
  return true;
}

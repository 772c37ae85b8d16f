/** Values of CSS properties by name, in lower case. */
export type Declarations = ReadonlyMap<string, string>;

const MAX_RULES = 20_000;

/** Selector of one compound without combinators: `.note`, `#ad`, `div.note.small`. */
export interface SimpleRule {
  readonly tag: string | undefined;
  readonly id: string | undefined;
  readonly classes: readonly string[];
  readonly declarations: Declarations;
}

/** Parses the text of a `style` attribute. Comments and escapes are resolved; a later declaration replaces an earlier one unless that is important. */
export function parseDeclarations(text: string): Declarations {
  const found = new Map<string, string>();
  const important = new Set<string>();
  for (const part of normalCss(text).split(";")) {
    const colon = part.indexOf(":");
    if (colon < 0) continue;
    const name = part.slice(0, colon).trim();
    const value = part.slice(colon + 1).trim();
    const plain = value.replace(/\s*!\s*important$/, "");
    if (important.has(name) && plain === value) continue;
    if (plain !== value) important.add(name);
    found.set(name, plain);
  }
  return found;
}

/** At-rules whose content holds on every screen. Other conditions (`@media print`) are not evaluated. */
const TRANSPARENT =
  /^@(media (only )?(all|screen)|layer|supports|scope|container)( |$)(?!.*(width|height|print|prefers))/;
const MAX_NESTING = 3;

/** Rules of style sheets, and whether some were left out because there are too many, or are nested too deeply. */
export interface ParsedRules {
  readonly rules: SimpleRule[];
  isCut: boolean;
}

/** Parses the rules of style sheets that hide elements by a simple selector. */
export function parseRules(css: string): Readonly<ParsedRules> {
  const parsed: ParsedRules = { rules: [], isCut: false };
  addRules(normalCss(css).replace(/@(import|charset|namespace|layer)[^@;{}]*;/g, ""), 0, parsed);
  return parsed;
}

function addRules(text: string, nesting: number, parsed: ParsedRules): void {
  let start = 0;
  let depth = 0;
  let open = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === "{" && depth++ === 0) open = index;
    if (character !== "}" || depth === 0 || --depth > 0) continue;
    const selectors = text.slice(start, open).trim();
    const body = text.slice(open + 1, index);
    start = index + 1;
    if (selectors.startsWith("@")) {
      if (!TRANSPARENT.test(selectors)) continue;
      if (nesting < MAX_NESTING) addRules(body, nesting + 1, parsed);
      else parsed.isCut = true;
    } else if (
      /display|visibility|opacity|font|clip|position|color|transform|overflow|indent|margin|zoom|scale|filter/.test(
        body,
      )
    ) {
      const declarations = parseDeclarations(body);
      for (const selector of selectors.split(",")) parsed.rules.push(...simpleRule(selector.trim(), declarations));
      if (parsed.rules.length < MAX_RULES) continue;
      parsed.isCut = true;
      return;
    }
  }
}

function simpleRule(selector: string, declarations: Declarations): SimpleRule[] {
  if (!/^[a-z0-9]*([.#][\w-]+)*$/.test(selector) || selector === "") return [];
  const [tag = "", ...names] = selector.split(/(?=[.#])/);
  const hasTag = !/^[.#]/.test(tag);
  const parts = hasTag ? names : [tag, ...names];
  return [
    {
      tag: hasTag ? tag : undefined,
      id: parts.find((part) => part.startsWith("#"))?.slice(1),
      classes: parts.filter((part) => part.startsWith(".")).map((part) => part.slice(1)),
      declarations,
    },
  ];
}

/** Removes comments and resolves escapes: `d\69 splay:/**\/none` is `display:none`. */
function normalCss(text: string): string {
  return removeComments(text)
    .replace(/\s+/g, " ")
    .replace(/\\([0-9a-f]{1,6})\s?/gi, (_all, hex: string) => codePoint(Number.parseInt(hex, 16)))
    .replace(/\\(.)/g, "$1")
    .toLowerCase();
}

function removeComments(text: string): string {
  const parts: string[] = [];
  let position = 0;
  for (;;) {
    const start = text.indexOf("/*", position);
    if (start < 0) return parts.join("") + text.slice(position);
    parts.push(text.slice(position, start));
    const end = text.indexOf("*/", start + 2);
    if (end < 0) return parts.join("");
    position = end + 2;
  }
}

const codePoint = (code: number): string => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "");

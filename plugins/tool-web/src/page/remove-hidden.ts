import type { CheerioAPI } from "cheerio";
import { Element, type ParentNode } from "domhandler";
import { type Declarations, parseDeclarations, parseRules, type SimpleRule } from "./css.ts";
import { elementsBelow, rewriteTree, textOf } from "./dom.ts";

/** Bound of the work per element. */
const MAX_RULES_PER_KEY = 20;

/**
 * Removes the elements that a browser does not show: by attribute, by inline style, and by style rules with simple selectors. Invisible text is
 * often not part of the page (menus, or instructions that only a program reads). Elements that scripts often show later, because they are transparent
 * or hidden by a rule, stay if they have most of the text.
 * @returns whether rules were left out because there are too many: elements that they hide stay
 */
export function removeHidden($: CheerioAPI, body: ParentNode, css: string): boolean {
  const hidden = new Set<unknown>($("[hidden], [aria-hidden='true' i], input[type='hidden' i], dialog:not([open])"));
  const hiddenAtFirst = new Set<unknown>();
  const parsed = parseRules(css);
  const { rules, isCut } = ruleIndex(parsed.rules);
  for (const element of elementsBelow(body)) {
    const { style } = element.attribs;
    if (style === undefined && rules.size === 0) continue;
    const inline = parseDeclarations(style ?? "");
    if (isHidden(inline)) hidden.add(element);
    else if (isTransparent(inline)) hiddenAtFirst.add(element);
    else if (rules.size > 0) {
      const cascaded = cascade(matchingRules(rules, element), inline);
      if (isHidden(cascaded) || isTransparent(cascaded)) hiddenAtFirst.add(element);
    }
  }
  rewriteTree(body, (node) => (hidden.has(node) ? [] : [node]));
  if (hiddenAtFirst.size === 0) return parsed.isCut || isCut;
  const visible = textOutside(body, hiddenAtFirst).replace(/\s+/g, "").length;
  const all = textOf(body).replace(/\s+/g, "").length;
  if (visible * 2 > all) rewriteTree(body, (node) => (hiddenAtFirst.has(node) ? [] : [node]));
  return parsed.isCut || isCut;
}

/** Text below a node, without that of some elements. */
function textOutside(root: ParentNode, omitted: ReadonlySet<unknown>): string {
  return root.children
    .filter((child) => !omitted.has(child))
    .map((child) => {
      if (!(child instanceof Element)) return "data" in child ? child.data : "";
      return textOutside(child, omitted);
    })
    .join("");
}

/** Indexes rules by one class, else the id, else the tag of their selector. */
function ruleIndex(all: readonly SimpleRule[]): { readonly rules: Map<string, SimpleRule[]>; readonly isCut: boolean } {
  const index = new Map<string, SimpleRule[]>();
  let isCut = false;
  for (const rule of all) {
    const key =
      rule.classes[0] === undefined
        ? rule.id === undefined
          ? (rule.tag ?? "")
          : `#${rule.id}`
        : `.${rule.classes[0]}`;
    const list = index.get(key) ?? [];
    if (list.length < MAX_RULES_PER_KEY) list.push(rule);
    else isCut = true;
    index.set(key, list);
  }
  return { rules: index, isCut };
}

function matchingRules(index: ReadonlyMap<string, readonly SimpleRule[]>, { name, attribs }: Element): SimpleRule[] {
  const id = (attribs["id"] ?? "").toLowerCase();
  const classes = (attribs["class"] ?? "").toLowerCase().split(/\s+/);
  const keys = [name, `#${id}`, ...classes.map((one) => `.${one}`)];
  return keys
    .flatMap((key) => index.get(key) ?? [])
    .filter(
      (rule) =>
        (rule.tag ?? name) === name && (rule.id ?? id) === id && rule.classes.every((one) => classes.includes(one)),
    );
}

const cascade = (rules: readonly SimpleRule[], inline: Declarations): Declarations =>
  new Map([...rules.flatMap(({ declarations }) => [...declarations]), ...inline]);

function isHidden(style: Declarations): boolean {
  if (style.size === 0) return false;
  const has = (name: string, pattern: RegExp): boolean => pattern.test(style.get(name) ?? "");
  const isOff =
    has("display", /^none$/) || has("visibility", /^(hidden|collapse)$/) || has("content-visibility", /^hidden$/);
  const isTiny = has("font-size", NOTHING) || has("font", /(^|\s)(0[0.]*[a-z%]*|1px)(\/|\s)/) || has("zoom", NOTHING);
  const isScaledAway = has("transform", /scale[xy]?\(\s*0[.0]*\s*[,)]/) || has("scale", /^0[.0]*$/);
  const isClipped =
    has("clip-path", /inset\(\s*(50|100)%|(circle|ellipse)\(\s*0/) || has("clip", /rect\((\s*,?\s*[01](px)?)+\s*\)/);
  if (isOff || isTiny || isScaledAway || isClipped) return true;
  if (
    ["text-indent", "margin", "margin-left", "margin-top"].some((side) => has(side, FAR)) ||
    has("transform", FAR_MOVE)
  )
    return true;
  const isMoved = has("position", /^(absolute|fixed|relative)$/);
  if (isMoved && ["left", "top", "right", "bottom", "inset"].some((side) => has(side, FAR))) return true;
  const isEmptyBox = ["width", "height", "max-width", "max-height"].some((size) => has(size, NOTHING));
  return isEmptyBox && ["overflow", "overflow-x", "overflow-y"].some((one) => has(one, /hidden|clip/));
}

/** Length of at most one pixel. */
const NOTHING = /^(0[0.]*[a-z%]*|\.0+[a-z%]*|0?\.\d+px|0?\.0\d*r?em|1px)$/;

/** Negative distance beyond the page: at least 999 pixels, or 100 of a larger unit. */
const FAR = /^(calc\(\s*)?-(\d{3,}(\.\d+)?(em|rem|vw|vh|%)|(999|\d{4,})(\.\d+)?px|\d{4,}[a-z]*)/;
const FAR_MOVE = /translate[xy3d]*\(([^)]*,)?\s*-((999|\d{4,})(\.\d+)?px|\d{3,}(\.\d+)?(em|rem|vw|vh)|\d{4,}%)/;

/** Returns whether a style makes text transparent. Text that is cut out of a coloured background is visible. */
function isTransparent(style: Declarations): boolean {
  const has = (name: string, pattern: RegExp): boolean => pattern.test(style.get(name) ?? "");
  if (has("opacity", /^[0.]+%?$/) || has("filter", /opacity\(\s*0%?\s*\)/)) return true;
  return (
    has("color", /^(transparent|rgba\(.*,\s*0\)|#[0-9a-f]{3}0|#[0-9a-f]{6}00)$/) &&
    !has("background-clip", /text/) &&
    !has("-webkit-background-clip", /text/)
  );
}

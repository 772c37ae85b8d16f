import { interleave } from "./orders.ts";
import { KINDS, placesOf, type SpanKind } from "./spans.ts";
import type { Literals } from "./source-literals.ts";
import { constantText, joinedSpans, joinTexts, quote, spanText, type Text } from "./text.ts";
import type { Area, View } from "./view.ts";

/** Spans from either end that are tried. */
const PLACES = 5;
/** Views in which the number of spans is counted. */
const COUNTED = 12;
const SPAN_KINDS = Object.keys(KINDS) as SpanKind[];
/** Kinds of spans that are candidates of an answer. */
export const CANDIDATES: readonly SpanKind[] = [
  "option",
  "label",
  "part",
  "number",
  "quoted",
  "name",
  "field",
  "value",
  "word",
  "identifier",
  "cell",
  "json",
  "capital",
  "line",
  "bracket",
  "address",
  "expression",
];

/** Returns spans by place, those of fewer alternatives first. */
export function spanTexts(views: readonly View[], isLong: boolean): Text[] {
  const areas: Area[] = isLong ? ["question", "latest", "system", "all", "tools"] : ["question", "system", "all"];
  const found: Text[] = [];
  for (let place = 0; place < PLACES; place++)
    for (const area of areas)
      for (const kind of SPAN_KINDS) {
        const counts = countsOf(views, area, kind);
        const among = counts[Math.floor(counts.length / 2)] ?? 0;
        const isUsual = counts.filter((count) => count > place).length * 2 >= counts.length;
        if (counts.length === 0 || !isUsual) continue;
        found.push(spanText(area, kind, place, among));
        if (kind !== "text") found.push(spanText(area, kind, -1 - place, among));
      }
  return found;
}

/** Returns the numbers of spans in some views, ascending. Views without what the area means are left out. */
function countsOf(views: readonly View[], area: Area, kind: SpanKind): number[] {
  const counted = views.filter((view) => (area === "latest" ? view.turn > 0 : view.turn === 0)).slice(0, COUNTED);
  return counted.map((view) => view.spans(area, kind).length).toSorted((one, other) => one - other);
}

export function hasSeveral(views: readonly View[], area: Area, kind: SpanKind): boolean {
  return (countsOf(views, area, kind).at(-1) ?? 0) > 1;
}

export function listTexts(views: readonly View[]): Text[] {
  const kinds = CANDIDATES.filter((kind) => hasSeveral(views, "all", kind));
  return [" or ", ", ", " ", "\n", " and ", "/", "; ", ""].flatMap((separator) =>
    kinds.map((kind) => joinedSpans("all", kind, separator, false, "list")),
  );
}

export function joinTextsOf(views: readonly View[]): Text[] {
  const kinds = SPAN_KINDS.filter((kind) => hasSeveral(views, "question", kind));
  const pairs = kinds.flatMap((kind) =>
    ["", " ", ", ", "-", "\n", " + "].flatMap((separator) =>
      (
        [
          [0, 1],
          [1, 0],
          [-2, -1],
          [-1, 0],
        ] as const
      ).map(([one, other]) =>
        joinTexts(spanText("question", kind, one, 2), spanText("question", kind, other, 2), separator, "join"),
      ),
    ),
  );
  const all = kinds.flatMap((kind) =>
    ["", " ", ", ", "\n", "-", " + "].map((separator) => joinedSpans("question", kind, separator, false, "join")),
  );
  const reversed = kinds.flatMap((kind) =>
    ["", " ", ", ", "\n"].map((separator) => joinedSpans("question", kind, separator, true, "join")),
  );
  // Joiners make several characters one.
  const symbols = ["\u{200D}", ""].map((mark) => joinedSpans("question", "symbol", mark, false, "join"));
  return interleave([pairs, reversed, all, symbols]);
}

export function literalTexts({ texts, lists }: Literals): Text[] {
  const joined = [" ", ", ", "\n"].flatMap((separator) =>
    lists.map((list) => {
      const text = list.join(separator);
      return constantText("literal", text, `the literals ${quote(text)} of a list of the source`);
    }),
  );
  const short = texts.filter((text) => text.length <= 60);
  const all = [" ", "\n"].map((separator) =>
    constantText("literal", short.join(separator), `all literals of the source, joined by ${quote(separator)}`),
  );
  const each = texts.map((text) => constantText("literal", text, `the literal ${quote(text)} of the source`));
  return interleave([all, joined, each]);
}

/** Spans of what came last that are copied into an answer, the likeliest first. */
const COPIED =
  "text number- number line- json- json field- word- quoted value- word number:1 json:1 json:-2 number:-2 name- name identifier line field value quoted- identifier- part part- word:-2 json:2 json:-3 word:1 number:2 sentence- bracket cell- code address";

/** Answers that are copied from a result or a reply. */
export const COPIES: readonly Text[] = placesOf(COPIED).map(([kind, place]) => spanText("latest", kind, place, 1));

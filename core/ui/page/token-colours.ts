import { shown } from "../src/format.ts";
import type { TokenTable } from "./episode-tokens.ts";

/** Values that the colour of a token can show. */
export const COLOURINGS = {
  logprob: "log-probability",
  advantage: "advantage",
  version: "weight version",
  mask: "sampled or not",
  mismatch: "trainer minus sampler",
} as const;
export type Colouring = keyof typeof COLOURINGS;

/** Colours of tokens. */
export interface TokenScale {
  /** Style of a token; empty where it has no value. */
  styleOf(table: TokenTable, at: number): Readonly<Record<string, string>>;
  readonly legend: readonly { readonly colour: string; readonly label: string }[];
}

/** Steps of viridis (van der Walt and Smith, 2015), which is even in lightness and which colour-blind people can read. */
const VIRIDIS = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
] as const;
/** Blue below 0 and orange above, of Okabe and Ito. */
const [BELOW, ABOVE] = [
  [0, 114, 178],
  [230, 159, 0],
] as const;

type Colour = readonly [number, number, number];

/** Makes the scale of a colouring from the least to the greatest value of an episode. */
export function scaleOf(tables: readonly TokenTable[], colouring: Colouring): TokenScale {
  if (colouring === "mask")
    return {
      styleOf: ({ mask }, at) => (mask[at] === 1 ? styleWith([86, 180, 233]) : {}),
      legend: [
        { colour: css([86, 180, 233]), label: "sampled" },
        { colour: "transparent", label: "prompt and template" },
      ],
    };
  const value = VALUES[colouring];
  let [least, most] = [Infinity, -Infinity];
  for (const table of tables)
    for (let at = 0; at < table.tokens.length; at++) {
      const each = table.mask[at] === 1 ? value(table, at) : Number.NaN;
      if (Number.isNaN(each)) continue;
      least = Math.min(least, each);
      most = Math.max(most, each);
    }
  if (least > most) return { styleOf: () => ({}), legend: [{ colour: "transparent", label: "no token has a value" }] };
  const isSigned = colouring === "advantage" || colouring === "mismatch";
  const reach = Math.max(Math.abs(least), Math.abs(most)) || 1;
  const colourOf = (each: number): Colour =>
    isSigned
      ? mixed([255, 255, 255], each < 0 ? BELOW : ABOVE, Math.abs(each) / reach)
      : viridis(most === least ? 1 : (each - least) / (most - least));
  const marks = isSigned
    ? [-reach, -reach / 2, 0, reach / 2, reach]
    : [0, 0.25, 0.5, 0.75, 1].map((share) => least + share * (most - least));
  return {
    styleOf: (table, at) => {
      const each = table.mask[at] === 1 ? value(table, at) : Number.NaN;
      return Number.isNaN(each) ? {} : styleWith(colourOf(each));
    },
    legend: [...new Set(marks)].map((each) => ({ colour: css(colourOf(each)), label: shown(each) })),
  };
}

const VALUES: Readonly<Record<Exclude<Colouring, "mask">, (table: TokenTable, at: number) => number>> = {
  logprob: ({ logprobs }, at) => logprobs[at] as number,
  advantage: ({ advantages }, at) => advantages[at] as number,
  version: ({ versions }, at) => versions[at] as number,
  mismatch: ({ trainer, logprobs }, at) => (trainer[at] as number) - (logprobs[at] as number),
};

function viridis(share: number): Colour {
  const place = Math.min(1, Math.max(0, share)) * (VIRIDIS.length - 1);
  const low = Math.min(VIRIDIS.length - 2, Math.floor(place));
  return mixed(VIRIDIS[low] as Colour, VIRIDIS[low + 1] as Colour, place - low);
}

function mixed(one: Colour, other: Colour, share: number): Colour {
  return one.map((each, i) => Math.round(each + ((other[i] as number) - each) * share)) as unknown as Colour;
}

/** Background with a text colour that contrasts with it (WCAG 2.2, relative luminance). */
function styleWith(colour: Colour): Record<string, string> {
  const [r, g, b] = colour.map((each) =>
    each / 255 <= 0.04045 ? each / 255 / 12.92 : ((each / 255 + 0.055) / 1.055) ** 2.4,
  ) as [number, number, number];
  return { background: css(colour), color: 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000" : "#fff" };
}

function css([r, g, b]: Colour): string {
  return `rgb(${r} ${g} ${b})`;
}

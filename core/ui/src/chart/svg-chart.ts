import { shown, visible } from "../format.ts";
import { type Curves, type Line, rangeOf, smoothed, strokeOf } from "./curves.ts";

const WIDTH = 640;
const HEIGHT = 260;
const [LEFT, RIGHT, TOP, BOTTOM] = [72, 12, 30, 44];
const LEGEND_ROW = 18;
/** Labels of an axis, about. */
const TICKS = 6;

/** Axis of a chart: the place of a value in pixels, and the values of its labels. */
interface Axis {
  at(value: number): number;
  readonly ticks: readonly number[];
}

/**
 * Draws a chart as SVG, with axes, units, bands of confidence, marks and a legend. Its text is escaped. It takes its colour from `color` where it stands in a
 * page.
 */
export function svgChart({ title, lines, xLabel, unit, smoothing, isLog, marks = [] }: Curves): string {
  const drawn = lines.map((line): Line => ({
    ...line,
    values: smoothed(line.values, smoothing),
    ...(smoothing > 0 && { low: undefined, high: undefined }),
  }));
  const x = axisOf(
    drawn.flatMap(({ xs }) => xs),
    [LEFT, WIDTH - RIGHT],
    false,
  );
  const heights = drawn.flatMap(({ values, low = [], high = [] }) => [...values, ...low, ...high]);
  const y = axisOf(
    heights.filter((value) => !isLog || value > 0),
    [HEIGHT - BOTTOM, TOP],
    isLog,
  );
  const legendHeight = lines.length * LEGEND_ROW + 6;
  const parts = [
    text(LEFT, 16, title, 'font-weight="600"'),
    ...y.ticks.map((value) =>
      tick(
        `M${LEFT} ${px(y.at(value))}H${WIDTH - RIGHT}`,
        text(LEFT - 6, y.at(value) + 4, shown(value), 'text-anchor="end"'),
      ),
    ),
    ...x.ticks.map((value) =>
      tick(
        `M${px(x.at(value))} ${HEIGHT - BOTTOM}v4`,
        text(x.at(value), HEIGHT - BOTTOM + 18, shown(value), 'text-anchor="middle"'),
      ),
    ),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, xLabel, 'text-anchor="middle"'),
    unit === undefined
      ? ""
      : text(0, 0, unit, `text-anchor="middle" transform="translate(12 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)"`),
    ...marks
      .filter(({ at }) => x.at(at) >= LEFT && x.at(at) <= WIDTH - RIGHT)
      .map(
        ({ at, label }) =>
          `<path d="M${px(x.at(at))} ${TOP}V${HEIGHT - BOTTOM}" stroke="currentColor" stroke-dasharray="3 3" opacity=".55"/>${text(x.at(at) + 4, TOP + 11, label, 'opacity=".7"')}`,
      ),
    ...drawn.map((line, i) => curve(line, i, { x, y, isLog })),
    ...lines.map(({ label, values }, i) => legend(HEIGHT + i * LEGEND_ROW, i, `${label} ${shown(values.at(-1))}`)),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT + legendHeight}" width="${WIDTH}" height="${HEIGHT + legendHeight}" font-family="system-ui, sans-serif" font-size="12" fill="currentColor" role="img"><title>${escaped(title)}</title>${parts.join("")}</svg>`;
}

function curve(
  { xs, values, low, high }: Line,
  position: number,
  { x, y, isLog }: { x: Axis; y: Axis; isLog: boolean },
): string {
  const { colour, dashes } = strokeOf(position);
  const point = (at: number, value: number): string => `${px(x.at(at))} ${px(y.at(value))}`;
  const placed = xs.flatMap((at, i) => (isDrawn(values[i], isLog) ? [point(at, values[i] as number)] : []));
  const band =
    low === undefined || high === undefined
      ? []
      : [...xs.map((at, i) => [at, high[i]] as const), ...xs.map((at, i) => [at, low[i]] as const).toReversed()]
          .filter(([, value]) => isDrawn(value, isLog))
          .map(([at, value]) => point(at, value as number));
  const dots =
    placed.length < 40
      ? placed.map((each) => `<circle cx="${each.replace(" ", '" cy="')}" r="2.5" fill="${colour}"/>`).join("")
      : "";
  return [
    band.length > 2 ? `<path d="M${band.join("L")}Z" fill="${colour}" opacity=".17"/>` : "",
    placed.length > 1
      ? `<path d="M${placed.join("L")}" fill="none" stroke="${colour}" stroke-width="1.75"${dashes.length > 0 ? ` stroke-dasharray="${dashes.join(" ")}"` : ""}/>`
      : "",
    dots,
  ].join("");
}

function isDrawn(value: number | undefined, isLog: boolean): boolean {
  return value !== undefined && Number.isFinite(value) && (!isLog || value > 0);
}

function legend(top: number, position: number, label: string): string {
  const { colour, dashes } = strokeOf(position);
  const dash = dashes.length > 0 ? ` stroke-dasharray="${dashes.join(" ")}"` : "";
  return `<path d="M${LEFT} ${top}h20" stroke="${colour}" stroke-width="2.5"${dash}/>${text(LEFT + 28, top + 4, label)}`;
}

/** Makes an axis over the finite values, in a range of pixels. */
function axisOf(values: readonly number[], [from, to]: readonly [number, number], isLog: boolean): Axis {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values)
    if (Number.isFinite(value)) [least, most] = [Math.min(least, value), Math.max(most, value)];
  const hasValues = least <= most;
  const scale = isLog ? Math.log10 : (value: number): number => value;
  const [low, high] = rangeOf(hasValues ? scale(least) : null, hasValues ? scale(most) : null);
  const ticks = isLog
    ? roundValues(low, high)
        .filter(Number.isInteger)
        .map((power) => 10 ** power)
    : roundValues(low, high);
  return { at: (value) => from + ((scale(value) - low) / (high - low)) * (to - from), ticks };
}

/** Returns about {@link TICKS} values between two, which are multiples of 1, 2 or 5 times a power of ten. */
function roundValues(low: number, high: number): number[] {
  const rough = (high - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

function tick(path: string, label: string): string {
  return `<path d="${path}" stroke="currentColor" opacity=".25"/>${label}`;
}

function text(x: number, y: number, content: string, attributes = ""): string {
  return `<text x="${px(x)}" y="${px(y)}" ${attributes}>${escaped(content)}</text>`;
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Escapes text for XML, and shows hidden characters. */
export function escaped(content: string): string {
  return visible(content)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { shown } from "./format.ts";
import { html } from "./html.ts";

/** Line of a chart. */
export interface Line {
  readonly label: string;
  readonly xs: readonly number[];
  readonly values: readonly number[];
  readonly low?: readonly number[] | undefined;
  readonly high?: readonly number[] | undefined;
}

/** Options of {@link Chart}. */
export interface ChartProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly xLabel: string;
  readonly unit?: string | undefined;
  readonly smoothing: number;
  readonly isLog: boolean;
  /** Marks across the chart: stages. */
  readonly marks?: readonly { readonly at: number; readonly label: string }[];
  /** A person chose the point at this x. */
  readonly onChoose?: ((x: number) => void) | undefined;
}

/** Colours of Okabe and Ito (2008), which colour-blind people can distinguish; dashes repeat with them. */
const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7A6C00", "#777777"];
const DASHES = [[], [6, 3], [2, 3]];
const HEIGHT = 220;

/** Curves over steps, with the values at the pointer, zoom by dragging, and export as PNG and CSV. */
export function Chart(props: ChartProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const { title, lines, onChoose } = props;
  const isEmpty = lines.every(({ values }) => values.length === 0);
  useEffect(() => {
    const element = place.current;
    if (element === null || isEmpty) return undefined;
    const made = new uPlot(optionsOf(props, element.clientWidth), dataOf(props), element);
    plot.current = made;
    const onResize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    onResize.observe(element);
    const onClick = (): void => {
      const x = made.data[0][made.cursor.idx ?? -1];
      if (x !== undefined) onChoose?.(x);
    };
    made.over.addEventListener("click", onClick);
    return () => {
      onResize.disconnect();
      made.destroy();
    };
  }, [props]);
  const last = lines.map(({ label, values }) => `${label} ${shown(values.at(-1))}`).join(", ");
  return html`<figure class="chart">
    <figcaption>
      <span>${title}</span>
      <button class="small" onClick=${() => savePng(plot.current, title)} title="Save this chart as a picture">
        PNG
      </button>
    </figcaption>
    ${isEmpty ? html`<p class="quiet">no values yet</p>` : html`<div ref=${place} role="img" aria-label=${`${title}: ${last}`}></div>`}
  </figure>`;
}

function dataOf({ lines, smoothing }: ChartProps): uPlot.AlignedData {
  const tables = lines.map(({ xs, values, low, high }): uPlot.AlignedData => [
    Array.from(xs),
    smoothed(values, smoothing),
    ...(low && high && smoothing === 0 ? [Array.from(low), Array.from(high)] : []),
  ]);
  return uPlot.join(tables);
}

function optionsOf(
  { lines, xLabel, unit, isLog, marks = [], smoothing, onChoose }: ChartProps,
  width: number,
): uPlot.Options {
  const [ink, grid] = [colourOf("--ink"), colourOf("--grid")];
  const axis: uPlot.Axis = {
    stroke: ink,
    grid: { stroke: grid, width: 1 },
    ticks: { stroke: grid },
    font: "12px system-ui",
  };
  const series: uPlot.Series[] = [{ label: xLabel }];
  const bands: uPlot.Band[] = [];
  lines.forEach(({ label, low, values }, i) => {
    const stroke = COLOURS[i % COLOURS.length] as string;
    const dash = DASHES[Math.floor(i / COLOURS.length) % DASHES.length] as number[];
    const value = (_plot: uPlot, raw: number | null): string => shown(raw);
    series.push({ label, stroke, dash, width: 1.75, spanGaps: true, value, points: { show: values.length < 40 } });
    if (low === undefined || smoothing > 0) return;
    const at = series.length;
    for (const name of ["low", "high"])
      series.push({
        label: `${label} ${name}`,
        class: "bound",
        width: 0,
        points: { show: false },
        spanGaps: true,
        value,
      });
    bands.push({ series: [at + 1, at], fill: `${stroke}2b` });
  });
  return {
    width,
    height: HEIGHT,
    series,
    bands,
    scales: { x: { time: false }, y: isLog ? { distr: 3 } : { range: (_plot, least, most) => yRange(least, most) } },
    axes: [
      { ...axis, label: xLabel, labelFont: "12px system-ui", labelSize: 18 },
      {
        ...axis,
        size: 64,
        values: (_plot, values) => values.map((each) => shown(each)),
        ...(unit !== undefined && { label: unit, labelFont: "12px system-ui", labelSize: 18 }),
      },
    ],
    legend: { show: true, live: true },
    cursor: { drag: { x: true, y: false }, ...(onChoose && { points: { size: 9 } }) },
    hooks: { draw: [(plot) => drawMarks(plot, marks, ink)] },
  };
}

/** Returns the range of the axis: a constant is in its middle. */
function yRange(least: number | null, most: number | null): [number, number] {
  if (least === null || most === null) return [0, 1];
  const margin = least === most ? Math.abs(least) / 2 || 1 : (most - least) / 20;
  return [least - margin, most + margin];
}

function drawMarks(plot: uPlot, marks: NonNullable<ChartProps["marks"]>, ink: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.textAlign = "left";
  ctx.font = `${11 * devicePixelRatio}px system-ui`;
  ctx.fillStyle = ctx.strokeStyle = ink;
  ctx.globalAlpha = 0.55;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const { at, label } of marks) {
    const x = plot.valToPos(at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(label, x + 4 * devicePixelRatio, bbox.top + 11 * devicePixelRatio);
  }
  ctx.restore();
}

/** Returns a colour of the style sheet for this theme. A canvas reads no `light-dark()`. */
function colourOf(name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Exponential moving average, without the weight of its start (Kingma and Ba, 2015, section 3). */
function smoothed(values: readonly number[], by: number): number[] {
  if (by === 0) return Array.from(values);
  let [sum, weight] = [0, 0];
  return values.map((value) => {
    sum = by * sum + (1 - by) * value;
    weight = by * weight + (1 - by);
    return sum / weight;
  });
}

function savePng(plot: uPlot | undefined, title: string): void {
  plot?.ctx.canvas.toBlob((blob) => {
    if (blob === null) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${title.replaceAll(/[^\w-]+/g, "-")}.png`;
    link.click();
    URL.revokeObjectURL(link.href);
  });
}

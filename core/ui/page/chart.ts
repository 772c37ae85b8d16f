import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { type Curves, rangeOf, smoothed, strokeOf } from "../src/chart/curves.ts";
import { svgChart } from "../src/chart/svg-chart.ts";
import { shown } from "../src/format.ts";
import { html } from "./html.ts";

/** Options of {@link Chart}. */
export interface ChartProps extends Curves {
  /** A person chose the point at this x. */
  readonly onChoose?: ((x: number) => void) | undefined;
}

const HEIGHT = 220;

/** Curves over steps, with the values at the pointer or the arrow keys, zoom by dragging, and export as SVG and PNG. */
export function Chart(props: ChartProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  // Handlers of the plot read the newest props: it stays while a run continues, with the range that a person chose.
  const newest = useRef(props);
  newest.current = props;
  const { title, lines, onChoose } = props;
  const isEmpty = lines.every(({ values }) => values.length === 0);
  const shape = isEmpty ? "" : shapeOf(props);
  useEffect(() => {
    const element = place.current;
    if (element === null || isEmpty) return undefined;
    const made = new uPlot(optionsOf(newest, element.clientWidth), dataOf(newest.current), element);
    plot.current = made;
    const onResize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    onResize.observe(element);
    const onClick = (): void => {
      const x = made.data[0][made.cursor.idx ?? -1];
      if (x !== undefined) newest.current.onChoose?.(x);
    };
    made.over.addEventListener("click", onClick);
    return () => {
      onResize.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => {
    const made = plot.current;
    if (made === undefined) return;
    const xs = made.data[0];
    const { min = xs[0], max = xs.at(-1) } = made.scales["x"] ?? {};
    const isZoomed = Number(min) > Number(xs[0]) || Number(max) < Number(xs.at(-1));
    made.setData(dataOf(props), !isZoomed);
    if (isZoomed) made.setScale("x", { min: Number(min), max: Number(max) });
  }, [props]);
  const last = lines.map(({ label, values }) => `${label} ${shown(values.at(-1))}`).join(", ");
  return html`<figure class="chart">
    <figcaption>
      <span>${title}</span>
      <span>
        <button class="small" aria-label=${`Save ${title} as SVG`} onClick=${() => saveSvg(props)}>SVG</button>
        <button class="small" aria-label=${`Save ${title} as PNG`} onClick=${() => savePng(plot.current, title)}>
          PNG
        </button>
      </span>
    </figcaption>
    ${
      isEmpty
        ? html`<p class="quiet">no values yet</p>`
        : html`<div
            ref=${place}
            role=${onChoose === undefined ? "img" : "application"}
            aria-roledescription="chart"
            tabindex=${onChoose === undefined ? undefined : 0}
            aria-label=${`${title}: ${last}${onChoose === undefined ? "" : ". Arrow keys move along the curve, Enter shows the episodes of the step."}`}
            onKeyDown=${(event: KeyboardEvent) => moveByKey(event, plot.current, onChoose)}
          ></div>`
    }
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

/** Returns a text that changes where a plot must be made anew: its data alone may change without. */
function shapeOf({ lines, xLabel, unit, isLog, smoothing, onChoose }: ChartProps): string {
  const series = lines.map(({ label, low, values }) => [label, low !== undefined, values.length < 40]);
  return JSON.stringify([series, xLabel, unit, isLog, smoothing > 0, onChoose !== undefined]);
}

/** @param newest its marks are drawn; its other members follow from the shape */
function optionsOf(newest: { readonly current: ChartProps }, width: number): uPlot.Options {
  const { lines, xLabel, unit, isLog, smoothing, onChoose } = newest.current;
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
    const { colour: stroke, dashes } = strokeOf(i);
    const value = (_plot: uPlot, raw: number | null): string => shown(raw);
    series.push({
      label,
      stroke,
      dash: Array.from(dashes),
      width: 1.75,
      spanGaps: true,
      value,
      points: { show: values.length < 40 },
    });
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
    scales: { x: { time: false }, y: isLog ? { distr: 3 } : { range: (_plot, least, most) => rangeOf(least, most) } },
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
    hooks: { draw: [(plot) => drawMarks(plot, newest.current.marks ?? [], ink)] },
  };
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

/** Moves the cursor of a chart to the next point of its curves, and chooses it. */
function moveByKey(event: KeyboardEvent, plot: uPlot | undefined, onChoose: ChartProps["onChoose"]): void {
  if (plot === undefined || onChoose === undefined) return;
  const xs = plot.data[0];
  const at = plot.cursor.idx ?? -1;
  if (event.key === "Enter") {
    if (xs[at] !== undefined) onChoose(xs[at]);
    return;
  }
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: xs.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  const x = xs[Math.min(xs.length - 1, Math.max(0, next))] as number;
  plot.setCursor({ left: plot.valToPos(x, "x"), top: HEIGHT / 2 });
}

function saveSvg(props: ChartProps): void {
  save(new Blob([svgChart(props)], { type: "image/svg+xml" }), `${props.title}.svg`);
}

function savePng(plot: uPlot | undefined, title: string): void {
  plot?.ctx.canvas.toBlob((blob) => {
    if (blob !== null) save(blob, `${title}.png`);
  });
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replaceAll(/[^\w.-]+/g, "-");
  link.click();
  URL.revokeObjectURL(link.href);
}

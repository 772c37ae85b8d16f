import type { VNode } from "preact";
import { shown } from "../src/format.ts";
import { html } from "./html.ts";

const WIDTH = 120;
const HEIGHT = 24;

/** Small curve without axes. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }): VNode {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const points = values.map((value, i) => {
    const x = values.length < 2 ? 0 : (i / (values.length - 1)) * WIDTH;
    const y = most === least ? HEIGHT / 2 : HEIGHT - 2 - ((value - least) / (most - least)) * (HEIGHT - 4);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return html`<svg
    class="sparkline"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    width=${WIDTH}
    height=${HEIGHT}
    role="img"
    aria-label="${label}: from ${shown(values[0])} to ${shown(values.at(-1))}"
  >
    <polyline points=${points.join(" ")} />
  </svg>`;
}

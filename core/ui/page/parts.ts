import type { ComponentChildren, VNode } from "preact";
import type { ApiFault, Loaded } from "./api.ts";
import { visible } from "../src/format.ts";
import { html } from "./html.ts";

/** Shows a value when it has been loaded, with the fault of a later request above it. */
export function Ready<T>({ loaded, children }: { loaded: Loaded<T>; children: (value: T) => VNode }): VNode {
  const { value, fault, isLoading } = loaded;
  return html`${fault && html`<${Fault} fault=${fault} />`}
  ${value === undefined ? isLoading && html`<p class="quiet" role="status">Loading…</p>` : children(value)}`;
}

/** Error with what to do about it. */
export function Fault({ fault: { code, message, hint } }: { fault: ApiFault }): VNode {
  return html`<div class="fault" role="alert">
    <strong>${visible(code)}</strong> ${visible(message)} ${hint && html`<span class="quiet">${visible(hint)}</span>`}
  </div>`;
}

/** Name and value, one below the other. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }): VNode {
  return html`<div class="fact">
    <dt>${name}</dt>
    <dd>${children}</dd>
  </div>`;
}

/** Table of texts and numbers. @param texts leading columns that hold text */
export function Table({
  caption,
  head,
  rows,
  texts = 1,
}: {
  caption: string;
  head: readonly string[];
  rows: readonly (readonly (string | VNode)[])[];
  texts?: number;
}): VNode {
  const kind = (column: number): string | undefined => (column >= texts ? "number" : undefined);
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${head.map((name, i) => html`<th class=${kind(i)}>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, i) => html`<td class=${kind(i)}>${typeof cell === "string" ? visible(cell) : cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Text of a model or an environment. Line breaks are kept, hidden characters are shown. */
export function Text({ text }: { text: string }): VNode {
  return html`<pre class="text" dir="ltr">${visible(text)}</pre>`;
}

/** Text of more than this many characters is cut until a person asks for it. */
const LONG = 4_000;

/** Text that may be very long. */
export function LongText({ text }: { text: string }): VNode {
  if (text.length <= LONG) return html`<${Text} text=${text} />`;
  return html`<${Text} text=${text.slice(0, LONG)} />
    <details>
      <summary>${(text.length - LONG).toLocaleString("en")} more characters</summary>
      <${Text} text=${text.slice(LONG)} />
    </details>`;
}

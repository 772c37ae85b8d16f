import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { goTo, pathOf, withArguments } from "./address.ts";
import { type ApiFault, faultOf, request, requestBytes } from "./api.ts";
import { type TokenTable, tokenTables } from "./episode-tokens.ts";
import { shown, visible } from "../src/format.ts";
import { html } from "./html.ts";
import { Fault } from "./parts.ts";
import type { EpisodeDetail, TokenShape } from "./shapes.ts";
import { type Colouring, COLOURINGS, scaleOf, type TokenScale } from "./token-colours.ts";

/** Tokens that are shown at a time. */
const SHOWN = 4_000;

type Texts = Readonly<Record<string, TokenShape>>;

/** Tokens of an episode in colours, with their numbers. What the chat template added is between the texts of the conversation. */
export function TokensView({
  run,
  detail,
  search,
}: {
  run: string;
  detail: EpisodeDetail;
  search: URLSearchParams;
}): VNode {
  const [loaded, setLoaded] = useState<{ readonly tables: readonly TokenTable[]; readonly texts: Texts }>();
  const [fault, setFault] = useState<ApiFault>();
  const path = `/api${pathOf("runs", run, "episodes", String(detail.key))}`;
  useEffect(() => {
    Promise.all([requestBytes(`${path}/tokens`), request<Texts>(`${path}/texts`)]).then(
      ([bytes, texts]) => setLoaded({ tables: tokenTables(bytes, detail), texts }),
      (error: unknown) => setFault(faultOf(error)),
    );
  }, [path]);
  const chosen = search.get("colour") ?? "";
  const colouring = Object.hasOwn(COLOURINGS, chosen) ? (chosen as Colouring) : "logprob";
  const scale = useMemo(() => loaded && scaleOf(loaded.tables, colouring), [loaded, colouring]);
  if (fault !== undefined) return html`<${Fault} fault=${fault} />`;
  if (loaded === undefined || scale === undefined) return html`<p class="quiet" role="status">Loading…</p>`;
  if (loaded.tables.length === 0)
    return html`<p>The episode has no tokens: no model acted, or the retention of the store has deleted them.</p>`;
  return html`<div class="bar" role="radiogroup" aria-label="Colour">
      ${Object.entries(COLOURINGS).map(
        ([name, label]) =>
          html`<label
            ><input
              type="radio"
              name="colour"
              checked=${name === colouring}
              onChange=${() => goTo(withArguments(search, { colour: name === "logprob" ? null : name }), true)}
            />
            ${label}</label
          >`,
      )}
    </div>
    <${Legend} scale=${scale} />
    ${loaded.tables.map((table) => html`<${SegmentTokens} key=${`${table.agent} ${table.segment}`} table=${table} texts=${loaded.texts} scale=${scale} />`)}`;
}

function Legend({ scale }: { scale: TokenScale }): VNode {
  return html`<p class="legend">
    ${scale.legend.map(({ colour, label }) => html`<span><i style=${{ background: colour }}></i>${label}</span>`)}
  </p>`;
}

function SegmentTokens({ table, texts, scale }: { table: TokenTable; texts: Texts; scale: TokenScale }): VNode {
  const [from, setFrom] = useState(0);
  const { agent, segment, tokens, mask, parent } = table;
  const to = Math.min(tokens.length, from + SHOWN);
  const sampled = mask.reduce((sum, each) => sum + each, 0);
  return html`<section class="segment">
    <h3>
      ${`${visible(agent)}, segment ${segment}`}${parent !== null && ` (after segment ${parent}, which the template rewrote)`}
      <span class="quiet"> ${shown(tokens.length)} tokens, ${shown(sampled)} sampled</span>
    </h3>
    ${tokens.length > SHOWN && html`<div class="bar"><button disabled=${from === 0} onClick=${() => setFrom(from - SHOWN)}>Earlier</button> ${shown(from)} to ${shown(to)} <button disabled=${to === tokens.length} onClick=${() => setFrom(from + SHOWN)}>Next</button></div>`}
    <p class="tokens">
      ${Array.from(tokens.subarray(from, to), (token, i) => html`<${TokenView} table=${table} at=${from + i} shape=${texts[token]} scale=${scale} />`)}
    </p>
  </section>`;
}

function TokenView({
  table,
  at,
  shape,
  scale,
}: {
  table: TokenTable;
  at: number;
  shape: TokenShape | undefined;
  scale: TokenScale;
}): VNode {
  const { tokens, logprobs, versions, advantages, trainer, mask } = table;
  const isSampled = mask[at] === 1;
  const token = tokens[at] as number;
  const text = shape === undefined ? `[${token}]` : visible(shape.text).replaceAll("\n", "⏎\n").replaceAll("\t", "⇥");
  const facts = isSampled
    ? [
        `log-probability ${shown(logprobs[at])}`,
        `advantage ${shown(advantages[at])}`,
        `version ${shown(versions[at])}`,
        `trainer ${shown(trainer[at])}`,
        `trainer minus sampler ${shown((trainer[at] as number) - (logprobs[at] as number))}`,
      ]
    : ["not sampled"];
  return html`<span
    class=${`${shape?.isSpecial === true ? "special " : ""}${isSampled ? "sampled" : ""}`}
    style=${scale.styleOf(table, at)}
    title=${`${JSON.stringify(shape?.text ?? "")} id ${token} at ${at}\n${facts.join("\n")}`}
    >${text}</span
  >`;
}

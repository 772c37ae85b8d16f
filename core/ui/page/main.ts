import { render, type VNode } from "preact";
import { pathOf, useAddress } from "./address.ts";
import { ComparePage } from "./compare-page.ts";
import { EpisodePage } from "./episode-page.ts";
import { EpisodesPage } from "./episodes-page.ts";
import { html } from "./html.ts";
import { PlayPage } from "./play-page.ts";
import { RunPage } from "./run-page.ts";
import { RunsPage } from "./runs-page.ts";
import { ServersPage } from "./servers-page.ts";
import { WorkersPage } from "./workers-page.ts";
import "./page.css";

/** The page of an address: `/`, `/servers`, `/compare?run=A&run=B`, `/runs/ID`, `/runs/ID/episodes`, `/runs/ID/episodes/EPISODE`, `/runs/ID/workers`, `/play`. */
function App(): VNode {
  const { parts, search } = useAddress();
  const [place, run, section, episode] = parts;
  return html`<header>
      <a class="brand" href="/">mrlm</a>
      <nav aria-label="Pages">
        <a href="/servers" aria-current=${place === "servers" ? "page" : undefined}>Servers</a>
      </nav>
      ${run !== undefined && place === "runs" && html`<${RunTabs} run=${run} section=${section} />`}
    </header>
    <main>${pageOf()}</main>`;

  function pageOf(): VNode {
    if (place === undefined) return html`<${RunsPage} search=${search} />`;
    if (place === "servers") return html`<${ServersPage} />`;
    if (place === "play") return html`<${PlayPage} />`;
    if (place === "compare") return html`<${ComparePage} search=${search} />`;
    if (place !== "runs" || run === undefined) return html`<p>There is no such page. <a href="/">All runs</a></p>`;
    if (section === "episodes" && episode !== undefined)
      return html`<${EpisodePage} key=${episode} run=${run} episode=${episode} search=${search} />`;
    if (section === "episodes") return html`<${EpisodesPage} key=${run} run=${run} search=${search} />`;
    if (section === "workers") return html`<${WorkersPage} key=${run} run=${run} />`;
    return html`<${RunPage} key=${run} run=${run} search=${search} />`;
  }
}

function RunTabs({ run, section }: { run: string; section: string | undefined }): VNode {
  const tabs = [
    ["Run", pathOf("runs", run), section === undefined],
    ["Episodes", pathOf("runs", run, "episodes"), section === "episodes"],
    ["Workers", pathOf("runs", run, "workers"), section === "workers"],
  ] as const;
  return html`<nav aria-label="Run">
    <span class="run-name">${run}</span>
    ${tabs.map(([name, href, isHere]) => html`<a href=${href} aria-current=${isHere ? "page" : undefined}>${name}</a>`)}
  </nav>`;
}

render(html`<${App} />`, document.body);

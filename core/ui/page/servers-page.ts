import type { VNode } from "preact";
import { useApi, useTurns } from "./api.ts";
import { shown, visible } from "../src/format.ts";
import { html } from "./html.ts";
import { Fact, Fault, Ready, Table } from "./parts.ts";
import type { ServerState } from "./shapes.ts";

const INTERVAL_MS = 2_000;

/** Environment servers: sessions, latencies and errors, read again every two seconds. */
export function ServersPage(): VNode {
  const turn = useTurns(INTERVAL_MS);
  const loaded = useApi<{ readonly servers: readonly ServerState[] }>(`/api/servers?turn=${turn}`, "");
  return html`<h1>Servers</h1>
    <${Ready} loaded=${loaded}>${({ servers }: { servers: readonly ServerState[] }) =>
      servers.length === 0
        ? html`<p>
            No server is shown. Start one with <code>mrlm serve --metrics-port 9464</code>, and this page with
            <code>mrlm ui --metrics http://127.0.0.1:9464/metrics</code>.
          </p>`
        : servers.map((server) => html`<${Server} key=${server.url} server=${server} />`)}</${Ready}>`;
}

function Server({ server }: { server: ServerState }): VNode {
  const { url, error, environments, calls, errors } = server;
  if (error !== null)
    return html`<section>
      <h2>${visible(url)}</h2>
      <${Fault} fault=${error} />
    </section>`;
  const sessions = environments.reduce((sum, each) => sum + each.sessions, 0);
  return html`<section>
    <h2>${visible(url)}${server.draining && html` <span class="state">stopping</span>`}</h2>
    <dl class="facts">
      <${Fact} name="Sessions">${shown(sessions)}<span class="quiet"> of ${shown(server.limit)}</span></${Fact}>
      <${Fact} name="Resident memory">${shown(server.rss === null ? null : Math.round(server.rss / 2 ** 20))} MiB</${Fact}>
      <${Fact} name="Waiting for slow clients">${shown(server.buffered)} bytes</${Fact}>
      <${Fact} name="Delay of the event loop, p99">${milliseconds(server.delay)} ms</${Fact}>
    </dl>
    <${Table} caption="Environments" head=${["Environment", "Open sessions", "Waiting"]}
      rows=${environments.map(({ environment, sessions: open, queue }) => [environment, shown(open), shown(queue)])} />
    <${Table} caption="Calls since the start of the server, in ms" head=${["Environment, phase", "Calls", "Mean", "p50", "p99"]}
      rows=${calls.map(({ environment, phase, count, mean, p50, p99 }) => [`${environment}, ${phase}`, shown(count), milliseconds(mean), milliseconds(p50), milliseconds(p99)])} />
    ${
      errors.length > 0 &&
      html`<${Table}
        caption="Errors"
        head=${["Environment, code", "Number"]}
        rows=${errors.map(({ environment, code, count }) => [`${environment} ${code}`.trim(), shown(count)])}
      />`
    }
  </section>`;
}

function milliseconds(seconds: number | null): string {
  return shown(seconds === null ? null : seconds * 1_000);
}

import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { pathOf } from "./address.ts";
import { useApi, useTurns } from "./api.ts";
import { Chart } from "./chart.ts";
import { shown, shownTime } from "../src/format.ts";
import { html } from "./html.ts";
import { Ready, Table } from "./parts.ts";
import type { WaitSeries, WorkersDetail } from "./shapes.ts";

/** The age of heartbeats grows while nothing in the run changes. */
const INTERVAL_MS = 5_000;
/** Characters of a member's capabilities. */
const CAPABILITIES = 300;

/** Processes of a run, the groups that wait, the age of tokens, waits, and leases, of which there may be hundreds. */
export function WorkersPage({ run }: { run: string }): VNode {
  const turn = useTurns(INTERVAL_MS);
  const loaded = useApi<WorkersDetail>(`/api${pathOf("runs", run, "workers")}?turn=${turn}`, run);
  return html`<h1>Workers</h1>
    <${Ready} loaded=${loaded}>${(detail: WorkersDetail) =>
      html`<${Members} detail=${detail} />
        <${Buffers} detail=${detail} />
        <${Staleness} detail=${detail} />
        <${Waits} waits=${detail.waits} />
        <${Leases} detail=${detail} />`}</${Ready}>`;
}

function Members({ detail: { now, members, memberCount, leases } }: { detail: WorkersDetail }): VNode {
  if (members.length === 0)
    return html`<h2>Members</h2>
      <p>No process takes part in the run.</p>`;
  const held = Map.groupBy(leases, ({ worker }) => worker);
  const head = ["Member", "Kind", "State", "Address", "Capabilities", "Last heartbeat", "Leases", "Started"];
  const rows = members.map(({ id, kind, state, address, capabilities, heartbeatAt, startedAt }) => [
    id,
    kind,
    html`<span class=${`state ${state}`}>${state}</span>`,
    address ?? "–",
    capabilitiesOf(capabilities),
    `${seconds(now - heartbeatAt)} ago`,
    shown(held.get(id)?.length ?? 0),
    shownTime(startedAt),
  ]);
  return html`<h2>Members</h2>
    <${Table}
      caption=${listed("Processes that take part in the run", members.length, memberCount)}
      head=${head}
      texts=${5}
      rows=${rows}
    />`;
}

function Leases({ detail: { now, leases, leaseCount } }: { detail: WorkersDetail }): VNode {
  if (leases.length === 0)
    return html`<h2>Leases</h2>
      <p>No cohort is leased.</p>`;
  const head = ["Cohort", "Worker", "Stage", "Environment", "Groups", "Attempt", "Ends"];
  const rows = leases.map(({ cohort, worker, stage, environment, groups, attempt, until, isExpired }) => [
    cohort,
    worker,
    stage,
    environment,
    shown(groups),
    shown(attempt),
    isExpired ? `${seconds(now - until)} ago` : `in ${seconds(until - now)}`,
  ]);
  return html`<h2>Leases</h2>
    <${Table}
      caption=${listed("Cohorts of groups that are played", leases.length, leaseCount)}
      head=${head}
      texts=${4}
      rows=${rows}
    />`;
}

function Buffers({ detail: { buffers } }: { detail: WorkersDetail }): VNode {
  if (buffers.length === 0)
    return html`<h2>Groups</h2>
      <p>The run has opened no groups.</p>`;
  const rows = buffers.map(({ learner, open, leased, ready }) => [learner, shown(open), shown(leased), shown(ready)]);
  return html`<h2>Groups</h2>
    <${Table} caption="Groups that no batch has" head=${["Learner", "Waiting", "Played now", "Ready"]} rows=${rows} />`;
}

function Staleness({ detail: { staleness } }: { detail: WorkersDetail }): VNode {
  const { batches, ages } = staleness;
  if (ages.length === 0)
    return html`<h2>Age of tokens</h2>
      <p>No batch has been taken.</p>`;
  const most = Math.max(...ages.map(({ parts }) => parts));
  const rows = ages.map(({ learner, policy, age, parts }) => [
    learner,
    policy,
    html`<span class="share" style=${{ width: `${(parts / most) * 100}%` }}></span>`,
    shown(age),
    shown(parts),
  ]);
  const caption = `Parts of episodes by the age of their oldest token, in weight versions, in the last ${shown(batches)} batches`;
  return html`<h2>Age of tokens</h2>
    <${Table} caption=${caption} head=${["Learner", "Policy", "Share", "Age", "Parts"]} texts=${3} rows=${rows} />`;
}

function Waits({ waits }: { waits: readonly WaitSeries[] }): VNode {
  const lines = useMemo(() => waits.map(({ name, steps, values }) => ({ label: name, xs: steps, values })), [waits]);
  return html`<h2>Waits</h2>
    ${
      waits.length === 0
        ? html`<p>
            Waits are measured where play runs ahead of learning: <code>play.mode</code> <code>pipelined</code> or${" "}
            <code>async</code>.
          </p>`
        : html`<${Chart}
            title="Seconds of waiting"
            lines=${lines}
            xLabel="step"
            unit="s"
            smoothing=${0}
            isLog=${false}
          />`
    }`;
}

function capabilitiesOf(capabilities: WorkersDetail["members"][number]["capabilities"]): string {
  if (typeof capabilities !== "object" || capabilities === null) return "unreadable";
  const text = Object.entries(capabilities)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
  return text.length > CAPABILITIES ? `${text.slice(0, CAPABILITIES)}…` : text || "–";
}

function listed(what: string, count: number, total: number): string {
  return count < total ? `${what}: the first ${shown(count)} of ${shown(total)}` : what;
}

function seconds(milliseconds: number): string {
  return `${shown(Math.max(0, Math.round(milliseconds / 1_000)))} s`;
}

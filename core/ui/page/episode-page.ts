import type { VNode } from "preact";
import { pathOf } from "./address.ts";
import { useApi } from "./api.ts";
import { shown, visible } from "../src/format.ts";
import { CallsGraph } from "./calls-graph.ts";
import { html } from "./html.ts";
import { Fact, Fault, LongText, Ready } from "./parts.ts";
import type { EpisodeDetail, ListedValue, Message, Part, Reward, TurnRecord } from "./shapes.ts";
import { TokensView } from "./tokens-view.ts";

/** One episode: conversation, rewards where they were earned, the other members of its group, tokens. */
export function EpisodePage({
  run,
  episode,
  search,
}: {
  run: string;
  episode: string;
  search: URLSearchParams;
}): VNode {
  const loaded = useApi<EpisodeDetail>(`/api${pathOf("runs", run, "episodes", episode)}`);
  return html`<${Ready} loaded=${loaded}>${(detail: EpisodeDetail) =>
    html`<${EpisodeHead} detail=${detail} />
      <${Group} run=${run} detail=${detail} />
      ${
        detail.calls !== undefined &&
        html`<h2 id="calls">Calls</h2>
          <${CallsGraph} detail=${detail} />`
      }
      <h2>Conversation</h2>
      <${Conversation} detail=${detail} />
      <h2 id="tokens">Tokens</h2>
      <${TokensView} run=${run} detail=${detail} search=${search} />`}</${Ready}>`;
}

function EpisodeHead({ detail }: { detail: EpisodeDetail }): VNode {
  const { episode, step, stage, purpose, credits } = detail;
  const { task, environment, seed, member, agents, error, seconds, info } = episode;
  return html`<h1>${visible(task)}</h1>
    ${error && html`<${Fault} fault=${error} />`}
    <dl class="facts">
      <${Fact} name="environment">${environment}<//><${Fact} name="step">${shown(step)}<//
      ><${Fact} name="stage">${stage} (${purpose})<//> <${Fact} name="seed">${shown(seed)}<//
      ><${Fact} name="member">${member}<//>
      ${Object.entries(seconds).map(([name, value]) => html`<${Fact} name=${`${name} s`}>${shown(value)}<//>`)}
    </dl>
    <div class="scroll" tabindex="0" role="region" aria-label="Agents">
      <table>
        <thead>
          <tr>
            <th>agent</th>
            <th>role</th>
            <th>player</th>
            <th>version</th>
            <th>reward</th>
            <th>components</th>
            <th>advantage</th>
            <th>end</th>
          </tr>
        </thead>
        <tbody>
          ${Object.entries(agents).map(
            ([agent, { role, player, total, end }]) =>
              html`<tr>
                <td>${visible(agent)}</td>
                <td>${role}</td>
                <td>${player.kind} ${visible(player.name)}</td>
                <td>${shown(player.version)}</td>
                <td>
                  ${total.scored ? shown(total.value) : html`<span class="small-fault">unscored: ${total.code} ${visible(total.message)}</span>`}
                </td>
                <td>${componentsOf(total)}</td>
                <td>
                  ${
                    credits
                      .filter((credit) => credit.agent === agent)
                      .map(({ advantage }) => shown(advantage))
                      .join(", ") || "–"
                  }
                </td>
                <td>${end.terminated ? "terminated" : ""}${end.truncated ? `truncated by ${end.truncatedBy}` : ""}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${
      info !== undefined &&
      html`<details>
        <summary>info of the environment</summary>
        <${LongText} text=${JSON.stringify(info, null, 2)} />
      </details>`
    }`;
}

function componentsOf(reward: Reward): string {
  return reward.scored
    ? Object.entries(reward.components)
        .map(([name, value]) => `${visible(name)} ${shown(value)}`)
        .join(", ")
    : "";
}

/** Members of the group, side by side. */
function Group({ run, detail }: { run: string; detail: EpisodeDetail }): VNode | null {
  const { group, episode } = detail;
  if (group.total <= Object.keys(episode.agents).length) return null;
  const at = (name: string): number => group.columns.indexOf(name);
  return html`<h2>Group of ${new Set(group.rows.map((row) => row[at("episode_key")])).size}</h2>
    <div class="group">
      ${group.rows.map((row) => {
        const key = row[at("episode_key")];
        return html`<a
          href=${pathOf("runs", run, "episodes", String(key))}
          aria-current=${key === detail.key ? "page" : undefined}
        >
          <strong>${shown(row[at("reward")] as number | null)}</strong>
          <span class="quiet">${memberText(row, at, Object.keys(episode.agents).length > 1)}</span></a
        >`;
      })}
    </div>`;
}

/** Describes how a member of the group ended. */
function memberText(row: readonly ListedValue[], at: (column: string) => number, hasRoles: boolean): string {
  const end = String(row[at("error")] ?? row[at("stop_reason")] ?? "");
  const parts = [end, `${shown(row[at("tokens")] as number | null)} tokens`, hasRoles ? String(row[at("role")]) : ""];
  return parts.filter((part) => part !== "").join(", ");
}

/** Turns in the order of play, one lane for each agent. */
function Conversation({ detail: { episode, judgements } }: { detail: EpisodeDetail }): VNode {
  const agents = [...new Set([...Object.keys(episode.agents), ...episode.turns.map(({ agent }) => agent)])];
  return html`<ol class="turns" style=${{ "--lanes": agents.length }}>
      ${episode.turns.map(
        (turn, i) =>
          html`<li id=${`turn-${i}`} tabindex="-1" style=${{ "--lane": agents.indexOf(turn.agent) + 1 }}>
            <${TurnView}
              turn=${turn}
              index=${i}
              isAlone=${agents.length === 1}
              judgements=${judgements.filter(({ step }) => step === i)}
            />
          </li>`,
      )}
    </ol>
    ${episode.turns.length === 0 && html`<p class="quiet">No agent has acted.</p>`}`;
}

function TurnView({
  turn,
  index,
  isAlone,
  judgements,
}: {
  turn: TurnRecord;
  index: number;
  isAlone: boolean;
  judgements: EpisodeDetail["judgements"];
}): VNode {
  const { agent, messages, response, stopReason, rewards, tokens } = turn;
  const earned = Object.entries(rewards).filter(
    ([, reward]) => !reward.scored || reward.value !== 0 || Object.values(reward.components).some((each) => each !== 0),
  );
  return html`<details class="turn" open>
    <summary>
      turn ${index}${!isAlone && html`, <strong>${visible(agent)}</strong>`}<span class="quiet">
        ${tokens ? `${tokens.end - tokens.start} tokens, ` : ""}${stopReason}</span
      >
    </summary>
    ${messages.map((message) => html`<${MessageView} message=${message} />`)}
    <${MessageView} message=${response} isResponse=${true} />
    ${earned.map(([of, reward]) => html`<p class="reward">reward${!isAlone && ` of ${visible(of)}`}: ${reward.scored ? html`<strong>${shown(reward.value)}</strong> <span class="quiet">${componentsOf(reward)}</span>` : html`<span class="small-fault">unscored: ${reward.code} ${visible(reward.message)}</span>`}</p>`)}
    ${judgements.map((given) => html`<${Verdict} given=${given} />`)}
  </details>`;
}

/** Verdict of a scorer about an answer, or of a judge about a conversation, with its reason. */
function Verdict({ given }: { given: EpisodeDetail["judgements"][number] }): VNode {
  const [by, answer] =
    "scorer" in given ? [`graded by ${given.scorer}: `, given.extracted] : [`judged by ${given.judge}: `];
  return html`<div class="reward">
    ${visible(by)}<strong>${visible(given.verdict)}</strong>${answer !== undefined && html`<span class="quiet">${`, answer ${visible(answer)}`}</span>`}
    <${LongText} text=${given.reason} />
  </div>`;
}

function MessageView({ message, isResponse = false }: { message: Message; isResponse?: boolean }): VNode {
  const { role, name, parts } = message;
  return html`<section class=${`message ${isResponse ? "response" : role}`}>
    <h3>${role}${name !== undefined && ` ${visible(name)}`}</h3>
    ${parts.length === 0 && html`<p class="quiet">empty</p>`}${parts.map((part) => html`<${PartView} part=${part} />`)}
  </section>`;
}

function PartView({ part }: { part: Part }): VNode {
  if (part.type === "text") return html`<${LongText} text=${part.text} />`;
  if (part.type === "thinking")
    return html`<details>
      <summary>thinking</summary>
      <${LongText} text=${part.text} />
    </details>`;
  if (part.type === "malformed-call")
    return html`<div class="small-fault">malformed call: ${visible(part.error)}</div>
      <${LongText} text=${part.text} />`;
  if (part.type === "tool-call")
    return html`<details open>
      <summary>calls <strong>${visible(part.name)}</strong></summary>
      <${LongText} text=${JSON.stringify(part.arguments, null, 2)} />
    </details>`;
  if (part.type === "tool-result")
    return html`<details open class=${part.isError ? "small-fault" : ""}>
      <summary>result of <strong>${visible(part.name)}</strong>${part.isError && " (error)"}</summary>
      ${part.content.map((each) => html`<${PartView} part=${each} />`)}
    </details>`;
  const { $bytes: bytes, url } = part.source as { readonly $bytes?: string; readonly url?: string };
  const data = bytes ?? (part.source as { readonly data?: { readonly $bytes: string } }).data?.$bytes;
  return data !== undefined && /^image\/(png|jpeg|gif|webp)$/.test(part.mediaType)
    ? html`<img alt="picture of the conversation" src=${`data:${part.mediaType};base64,${data}`} />`
    : html`<p class="quiet">picture ${visible(url ?? part.mediaType)}</p>`;
}

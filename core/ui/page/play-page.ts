import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SeatChoice, SeatEvent } from "../src/page-seat.ts";
import { visible } from "../src/format.ts";
import { type ApiFault, faultOf, request } from "./api.ts";
import { html } from "./html.ts";
import { Fault, LongText } from "./parts.ts";

/** Route of the seat, with the key that the printed address has. */
const routeOf = (): string => `/api/seat?key=${encodeURIComponent(location.hash.slice(1))}`;

type Question = Extract<SeatEvent, { readonly kind: "question" }>;

/** Seat of a person: what the agent observes, and a form for its answers. */
export function PlayPage(): VNode {
  const { events, isLost } = useSeat();
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "end" }), [events.length]);
  const answered = new Set(events.flatMap((event) => (event.kind === "answer" ? [event.id] : [])));
  const open = events.findLast((event): event is Question => event.kind === "question" && !answered.has(event.id));
  const hasEnded = events.at(-1)?.kind === "end";
  return html`<h1>Play</h1>
    <div role="log">${events.map((event) => html`<${Shown} event=${event} />`)}</div>
    ${hasEnded && html`<p>All tasks were played. <a href="/">The run</a></p>`}
    ${isLost && !hasEnded && html`<p role="alert">The command that plays has ended, or cannot be reached.</p>`}
    ${open !== undefined && !hasEnded && html`<${Form} key=${open.id} question=${open} />`}
    <div ref=${end}></div>`;
}

/** Follows the seat. A stream that breaks off begins anew, with all events. */
function useSeat(): { readonly events: readonly SeatEvent[]; readonly isLost: boolean } {
  const [events, setEvents] = useState<readonly SeatEvent[]>([]);
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    const source = new EventSource(routeOf());
    // A stream that begins anew repeats all events: the list of a command only grows, and a form keeps its text.
    let place = 0;
    source.addEventListener("open", () => {
      place = 0;
      setLost(false);
    });
    source.addEventListener("error", () => setLost(true));
    source.addEventListener("message", ({ data }) => {
      const at = place++;
      setEvents((before) => before.toSpliced(at, 1, JSON.parse(String(data)) as SeatEvent));
    });
    return () => source.close();
  }, []);
  return { events, isLost };
}

function Shown({ event }: { event: SeatEvent }): VNode | null {
  if (event.kind === "message")
    return html`<div class="message">
      <h3>${visible(event.author)}</h3>
      <${LongText} text=${event.text} />
    </div>`;
  if (event.kind === "answer")
    return html`<div class="message response">
      <h3>you</h3>
      <${LongText} text=${event.text} />
    </div>`;
  if (event.kind === "text") return html`<${LongText} text=${event.text} />`;
  if (event.kind === "tools")
    return html`<details open>
      <summary>Tools</summary>
      <${LongText} text=${event.tools.join("\n")} />
    </details>`;
  return null;
}

function Form({ question: { id, text, choices } }: { question: Question }): VNode {
  const [answer, setAnswer] = useState("");
  const [fault, setFault] = useState<ApiFault>();
  const send = (given: string): void => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ id, text: given });
    request(routeOf(), { method: "POST", headers, body }).catch((error: unknown) => setFault(faultOf(error)));
  };
  return html`<form
    class="seat"
    onSubmit=${(event: SubmitEvent) => {
      event.preventDefault();
      send(answer);
    }}
  >
    ${fault && html`<${Fault} fault=${fault} />`}
    ${choices === undefined ? html`<${Box} text=${text} value=${answer} onValue=${setAnswer} onSend=${send} />` : html`<${Choices} text=${text} choices=${choices} onSend=${send} />`}
  </form>`;
}

function Choices({
  text,
  choices,
  onSend,
}: {
  text: string;
  choices: readonly SeatChoice[];
  onSend: (key: string) => void;
}): VNode {
  return html`<p>${visible(text)}</p>
    ${choices.map(({ key, label }) => html`<button type="button" onClick=${() => onSend(key)}>${visible(label)}</button> `)}`;
}

function Box({
  text,
  value,
  onValue,
  onSend,
}: {
  text: string;
  value: string;
  onValue: (text: string) => void;
  onSend: (text: string) => void;
}): VNode {
  return html`<label
      >${visible(text)}
      <textarea
        rows="4"
        autofocus
        value=${value}
        onInput=${({ currentTarget }: { currentTarget: HTMLTextAreaElement }) => onValue(currentTarget.value)}
        onKeyDown=${(event: KeyboardEvent) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || value === "") return;
          event.preventDefault();
          onSend(value);
        }}
      ></textarea>
    </label>
    <button disabled=${value === ""}>Send (Ctrl+Enter)</button>`;
}

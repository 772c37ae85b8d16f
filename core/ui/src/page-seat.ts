import { randomBytes, timingSafeEqual } from "node:crypto";
import { type Exchange, HttpError } from "@mrlm/kit/http";
import { isObject, MrlmError } from "@mrlm/spec";

/** Route of the seat: a stream of events, and a POST for each answer. */
export const SEAT_ROUTE = "/api/seat";
/** Largest answer in bytes. */
export const MAX_ANSWER_BYTES = 1 << 20;

/** Choice of a question: what is sent, and what its button shows. */
export interface SeatChoice {
  readonly key: string;
  readonly label: string;
}

/** Item of the page `/play`. */
export type SeatEvent =
  | { readonly kind: "message"; readonly author: string; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "tools"; readonly tools: readonly string[] }
  | { readonly kind: "question"; readonly id: number; readonly text: string; readonly choices?: readonly SeatChoice[] }
  | { readonly kind: "answer"; readonly id: number; readonly text: string }
  | { readonly kind: "end" };

/** Seat of a person at the page: it shows events, and answers questions. A page that is loaded again, or a second one, shows the same. */
export class PageSeat {
  /** Secret of the address that the person opens, `/play#KEY`: other users of this machine can reach its port too. */
  readonly key = randomBytes(18).toString("base64url");
  readonly #events: SeatEvent[] = [];
  readonly #listeners = new Set<(event: SeatEvent) => void>();
  #asked = 0;
  #open:
    | {
        readonly id: number;
        readonly choices: readonly SeatChoice[] | undefined;
        readonly resolve: (text: string) => void;
      }
    | undefined;

  add(event: Exclude<SeatEvent, { readonly kind: "question" | "answer" }>): void {
    this.#add(event);
  }

  /** Asks a question, with buttons where there are choices, and waits also where no page is open. Rejects with CANCELLED when the signal aborts. */
  async ask(
    text: string,
    { choices, signal }: { readonly choices?: readonly SeatChoice[]; readonly signal: AbortSignal },
  ): Promise<string> {
    const id = ++this.#asked;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const onAbort = (): void => reject(new MrlmError("CANCELLED", "The question was given up."));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    this.#open = { id, choices, resolve };
    this.#add({ kind: "question", id, text, ...(choices && { choices }) });
    try {
      const answer = await promise;
      this.#add({ kind: "answer", id, text: choices?.find(({ key }) => key === answer)?.label ?? answer });
      return answer;
    } finally {
      this.#open = undefined;
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Answers GET with the events so far and each later one, and POST with the state of the answer. */
  async handle(exchange: Exchange): Promise<void> {
    this.#assertKey(exchange.url.searchParams.get("key") ?? "");
    if (exchange.request.method === "POST") return this.#answer(exchange);
    const { request, response } = exchange;
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const send = (event: SeatEvent): void => void response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.write(": open\n\n");
    for (const event of this.#events) send(event);
    this.#listeners.add(send);
    request.once("close", () => {
      this.#listeners.delete(send);
      response.end();
    });
  }

  #assertKey(given: string): void {
    const [one, other] = [Buffer.from(given), Buffer.from(this.key)];
    if (one.length === other.length && timingSafeEqual(one, other)) return;
    throw new HttpError(
      403,
      new MrlmError("UNAUTHENTICATED", "The address lacks the key of the seat.", {
        hint: "Open the whole address that mrlm try printed.",
      }),
    );
  }

  async #answer(exchange: Exchange): Promise<void> {
    const body = await exchange.json();
    const { id, text } = isObject(body) ? body : {};
    if (typeof id !== "number" || typeof text !== "string")
      throw new HttpError(400, new MrlmError("MESSAGE_INVALID", "An answer is {id, text}: a number and a text."));
    if (id !== this.#open?.id)
      throw new HttpError(
        409,
        new MrlmError("MESSAGE_INVALID", `Question ${id} is not open.`, {
          hint: "It was answered in another page, or its episode has ended. Load the page again.",
        }),
      );
    const { choices } = this.#open;
    if (choices !== undefined && !choices.some(({ key }) => key === text))
      throw new HttpError(400, new MrlmError("MESSAGE_INVALID", `Question ${id} has no such choice.`));
    this.#open.resolve(text);
    exchange.send(200, { id });
  }

  #add(event: SeatEvent): void {
    this.#events.push(event);
    for (const listener of this.#listeners) listener(event);
  }
}

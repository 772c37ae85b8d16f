import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { MrlmError } from "@mrlm/spec";
import { printable } from "../console/printable.ts";
import { observedItems, type SeatItem } from "./observed-text.ts";
import type { Seat } from "./seat.ts";

/** First and last line of a text of several lines. */
const QUOTES = '"""';

/** Returns the seat at a terminal, or at pipes: what is typed is read line by line. */
export function terminalSeat(input: Readable & { readonly isTTY?: boolean }, output: Writable): Seat {
  const lines = createInterface({ input, output, terminal: input.isTTY === true });
  /** Lines that came before their question. */
  const waiting: string[] = [];
  const closed = new AbortController();
  let wake: () => void = () => undefined;
  lines.on("line", (line) => {
    waiting.push(line);
    wake();
  });
  lines.on("close", () => {
    closed.abort();
    wake();
  });
  // A terminal gives Ctrl-C to the interface, and not to the process.
  lines.on("SIGINT", () => void process.emit("SIGINT"));
  const show = (text: string): void => void output.write(`${printable(text)}\n`);
  /** Lines that were typed before a question are no answers to it. Pipes have all lines at once. */
  const forget = (): void => {
    if (input.isTTY === true) waiting.length = 0;
  };
  const next = async (prompt: string, signal: AbortSignal): Promise<string | undefined> => {
    if (!closed.signal.aborted) {
      lines.setPrompt(prompt);
      lines.prompt(true);
    }
    while (waiting.length === 0 && !closed.signal.aborted) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const onAbort = (): void => reject(new MrlmError("CANCELLED", "The question was given up."));
      wake = resolve;
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      await promise.finally(() => signal.removeEventListener("abort", onAbort));
    }
    return waiting.shift();
  };
  return {
    help: `${QUOTES} on a line of its own begins and ends a text of several lines.`,
    observe(observation) {
      for (const item of observedItems(observation)) show(itemText(item));
    },
    show,
    async ask(question, { signal }) {
      forget();
      for (;;) {
        const line = await next(`${question}> `, signal);
        if (line?.trim() !== QUOTES) {
          if (line !== "") return line;
          continue;
        }
        const text: string[] = [];
        for (let more = await next("", signal); more?.trim() !== QUOTES; more = await next("", signal)) {
          if (more === undefined) return undefined;
          text.push(more);
        }
        return text.join("\n");
      }
    },
    async choose(question, { choices, signal }) {
      forget();
      const known = choices.map(({ key, label }) => `${key === "" ? "Enter" : key}: ${label}`).join(", ");
      for (;;) {
        const line = (await next(`${question} (${known})> `, signal))?.trim();
        if (line === undefined || choices.some(({ key }) => key === line)) return line;
      }
    },
    close: () => lines.close(),
  };
}

function itemText(item: SeatItem): string {
  if (item.kind === "message") return `\n${item.author}: ${item.text}`;
  if (item.kind === "tools") return `\ntools:\n${item.tools.map((tool) => `  ${tool}`).join("\n")}`;
  return item.kind === "text" ? `\n${item.text}` : "";
}

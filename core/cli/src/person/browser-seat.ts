import type { PageSeat } from "@mrlm/ui";
import { authorOf, contentText, toolText } from "./observed-text.ts";
import type { Seat } from "./seat.ts";

/** Returns the seat at the page `/play` of the viewer. */
export function browserSeat(page: PageSeat): Seat {
  const show = (text: string): void => page.add({ kind: "text", text: text.trim() });
  return {
    help: "An answer may have several lines.",
    observe({ agent, messages, isFresh, tools }) {
      if (agent !== "agent") show(`You are ${agent}.`);
      if (isFresh === true) show("(the conversation starts over)");
      for (const message of messages)
        page.add({ kind: "message", author: authorOf(message), text: contentText(message) });
      if (tools !== undefined && tools.length > 0) page.add({ kind: "tools", tools: tools.map(toolText) });
    },
    show,
    ask: (question, options) => page.ask(question, options),
    choose: (question, options) => page.ask(question, options),
    close: () => undefined,
  };
}

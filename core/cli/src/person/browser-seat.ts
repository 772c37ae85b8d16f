import type { PageSeat } from "@mrlm/ui";
import { observedItems } from "./observed-text.ts";
import type { Seat } from "./seat.ts";

/** Returns the seat at the page `/play` of the viewer. */
export function browserSeat(page: PageSeat): Seat {
  return {
    help: "An answer may have several lines.",
    observe(observation) {
      for (const item of observedItems(observation)) page.add(item);
    },
    show: (text) => page.add({ kind: "text", text: text.trim() }),
    ask: (question, options) => page.ask(question, options),
    choose: (question, options) => page.ask(question, options),
    close: () => undefined,
  };
}

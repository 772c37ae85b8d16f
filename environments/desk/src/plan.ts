import { callMessage, type Message } from "@mrlm/kit";
import { type Case, decide } from "./case.ts";
import { DOMAINS, type PrivateDesk, type PublicDesk } from "./tasks.ts";

/** Returns the messages of an agent that works as the policy demands, with the scripted customer. */
export function planOf({ domain: name, level }: PublicDesk, { cases, goals }: PrivateDesk): (string | Message)[] {
  const domain = DOMAINS[name];
  const { noun, change } = domain;
  let id = 0;
  const call = (tool: string, args: Record<string, string> = {}): Message => callMessage(tool, args, String(++id));
  const messages = goals.flatMap((goal) => {
    const { number, surname } = goal;
    const found = cases.find((each) => each.number === number) as Case;
    const { action, value } = decide(domain, found, goal);
    const isRefused = found.surname !== surname || domain.refusal(found.facts, found.value) !== undefined;
    const argument = { refund: "to", change, refuse: "reason" }[action];
    return [
      ...(level === 1 ? [] : [`What is the number of your ${noun}, and what is your surname?`]),
      call("find", { number, surname }),
      ...(goal.request === "change" && !isRefused
        ? [`Which ${change} should it be, and which one is your second choice?`, call("free", { number })]
        : []),
      call(action, { number, [argument]: value }),
      ...(level === 1 ? [] : ["It is decided. Is there anything else?"]),
    ];
  });
  return [...messages, call("close")];
}

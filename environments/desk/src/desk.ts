import { tool, toolError, toolset, type Toolset } from "@mrlm/kit";
import { z } from "zod";
import { applyDecision, type Case, decide, type Decision, type Domain } from "./case.ts";
import type { DeskOptions } from "./options.ts";
import { DOMAINS, type PrivateDesk, type PublicDesk } from "./tasks.ts";

/** The database of one episode, and the tools of the agent. */
export class Desk {
  readonly #domain: Domain;
  readonly #task: PrivateDesk;
  readonly #style: DeskOptions["style"];
  /** Numbers of the cases that the agent has looked up with the right name. */
  readonly #found = new Set<string>();
  #cases: readonly Case[];
  #isClosed = false;

  constructor({ domain }: PublicDesk, task: PrivateDesk, style: DeskOptions["style"]) {
    this.#domain = DOMAINS[domain];
    this.#task = task;
    this.#style = style;
    this.#cases = task.cases;
  }

  /** Whether the agent has ended its work. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether each case is as the policy demands, also where there was no request. */
  get isRight(): boolean {
    const { cases, goals } = this.#task;
    const wanted = cases.map((each) => {
      const goal = goals.find(({ number }) => number === each.number);
      return goal === undefined ? each : applyDecision(each, decide(this.#domain, each, goal));
    });
    return JSON.stringify(wanted) === JSON.stringify(this.#cases);
  }

  /** Returns the tools that read and change this database. */
  tools(): Toolset {
    const { noun, change, reasons } = this.#domain;
    const number = z.string().describe(`Number of the ${noun}`);
    return toolset({
      find: tool({
        description: `Returns a ${noun}.`,
        parameters: z.strictObject({ number, surname: z.string().describe("Surname that the customer gave") }),
        execute: (args) => this.#find(args),
      }),
      free: tool({
        description: `Returns the free values of the ${change} for a ${noun} that was found.`,
        parameters: z.strictObject({ number }),
        execute: (args) => this.#ofFound(args.number, ({ free }) => (free.length > 0 ? free.join(", ") : "none")),
      }),
      refund: tool({
        description: `Cancels a ${noun} that was found, and refunds its price.`,
        parameters: z.strictObject({ number, to: z.enum(["card", "voucher"]) }),
        execute: ({ number: given, to }) => this.#decide(given, { action: "refund", value: to }),
      }),
      change: tool({
        description: `Changes the ${change} of a ${noun} that was found.`,
        parameters: z.strictObject({ number, [change]: z.string() }),
        execute: (args) => {
          const { number: given = "", [change]: value = "" } = args as Record<string, string>;
          return this.#ofFound(given, ({ free }) =>
            free.includes(value)
              ? this.#decide(given, { action: "change", value })
              : toolError(`This ${change} is not free.`),
          );
        },
      }),
      refuse: tool({
        description: "Refuses a request, with the reason that the policy names.",
        parameters: z.strictObject({ number, reason: z.enum(["identity", ...reasons]) }),
        execute: ({ number: given, reason }) => this.#decide(given, { action: "refuse", value: reason }),
      }),
      close: tool({
        description: "Ends the conversation, after all requests of the customer have been decided.",
        execute: () => {
          this.#isClosed = true;
          return "closed";
        },
      }),
    });
  }

  #find({ number, surname }: { readonly number: string; readonly surname: string }) {
    const found = this.#cases.find((each) => each.number === number && isEqual(each.surname, surname));
    if (found === undefined) return toolError(`There is no ${this.#domain.noun} with this number and this surname.`);
    this.#found.add(number);
    const { subject, value, facts, status } = found;
    if (this.#style === "terse") return this.#domain.brief(facts, value);
    return Object.entries({ number, subject, [this.#domain.change]: value, ...facts, status })
      .map(([name, each]) => `${name}: ${each}`)
      .join("\n");
  }

  #ofFound<Result>(number: string, read: (found: Case) => Result) {
    const found = this.#cases.find((each) => each.number === number);
    return found !== undefined && this.#found.has(number)
      ? read(found)
      : toolError(`Find the ${this.#domain.noun} first, with the number and the surname.`);
  }

  /** Enters a decision. It is final: another one for the same case is refused. */
  #decide(number: string, decision: Decision) {
    const { noun } = this.#domain;
    const found = this.#cases.find((each) => each.number === number);
    if (found === undefined) return toolError(`There is no ${noun} with this number.`);
    if (!this.#found.has(number) && decision.value !== "identity")
      return toolError(`Find the ${noun} first, with the number and the surname.`);
    if (found.status !== "open") return toolError(`This ${noun} has been decided.`);
    this.#cases = this.#cases.map((each) => (each === found ? applyDecision(each, decision) : each));
    return "done";
  }
}

function isEqual(one: string, other: string): boolean {
  return one.toLowerCase() === other.trim().toLowerCase();
}

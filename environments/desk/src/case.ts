import type { RandomStream } from "@mrlm/kit";

/** An order or a booking in the database. */
export type Case = {
  readonly number: string;
  readonly surname: string;
  /** Item or route. */
  readonly subject: string;
  /** Color of the item, or day of the flight. Changes replace it. */
  readonly value: string;
  /** Facts on which the policy depends, by the name that a tool shows. */
  readonly facts: { readonly [name: string]: string };
  /** Values that a change can have: colors in stock, days with free seats. */
  readonly free: string[];
  readonly status: string;
};

/** Request of a customer, as the customer knows it. */
export type Goal = {
  readonly number: string;
  /** Name that the customer gives: not that of the case where the customer is another person. */
  readonly surname: string;
  readonly subject: string;
  readonly request: "refund" | "change";
  /** Value that a change should have, and the one that the customer takes where that is not free. */
  readonly wish: string;
  readonly second: string;
};

/** Decision about a case. */
export type Decision = {
  readonly action: "refund" | "change" | "refuse";
  /** Means of payment, new value, or reason. */
  readonly value: string;
};

/** A desk: its policy in words and as code. */
export interface Domain {
  /** Name of a case's number. */
  readonly noun: string;
  readonly change: string;
  /** Rules as the agent reads them. */
  readonly rules: readonly string[];
  /** Reasons for which the policy refuses. */
  readonly reasons: readonly string[];
  subjects: readonly string[];
  /** Values of changes. */
  readonly values: readonly string[];
  drawFacts(random: RandomStream, subject: string, value: string): Case["facts"];
  /** Returns the reason for which the policy refuses a request, if there is one. */
  refusal(facts: Case["facts"], value: string): string | undefined;
  /** Returns the means of payment of a refund. */
  refundTo(facts: Case["facts"]): string;
  /** Returns the decision where no value that the customer asks for is free. */
  withoutChange(facts: Case["facts"]): Decision;
  /** Returns a request of a customer in words. */
  ask(goal: Goal): string;
  /** Returns the facts of a case in a few characters, for small models. */
  brief(facts: Case["facts"], value: string): string;
}

/** Day of all tasks. */
export const TODAY = 60;

/** Returns the decision that the policy demands. */
export function decide(domain: Domain, found: Case, goal: Goal): Decision {
  if (goal.surname !== found.surname) return { action: "refuse", value: "identity" };
  const reason = domain.refusal(found.facts, found.value);
  if (reason !== undefined) return { action: "refuse", value: reason };
  if (goal.request === "refund") return { action: "refund", value: domain.refundTo(found.facts) };
  const value = [goal.wish, goal.second].find((each) => found.free.includes(each));
  return value === undefined ? domain.withoutChange(found.facts) : { action: "change", value };
}

/** Returns a case after a decision. */
export function applyDecision(found: Case, { action, value }: Decision): Case {
  return { ...found, ...(action === "change" ? { value } : {}), status: `${action}: ${value}` };
}

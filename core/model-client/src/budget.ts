import { MrlmError } from "@mrlm/spec";
import type { UsageCount } from "./chat-answer.ts";
import type { ModelClientOptions, Price } from "./options.ts";

/** Limits of all requests of a client together. Answers in progress may pass a limit of tokens or cost; no request follows. */
export class Budget {
  readonly #limits: ModelClientOptions["budget"];
  readonly #prices: ModelClientOptions["prices"];
  requests = 0;
  inputTokens = 0;
  outputTokens = 0;
  cost = 0;

  constructor({ budget, prices }: Pick<ModelClientOptions, "budget" | "prices">) {
    this.#limits = budget;
    this.#prices = prices;
  }

  /** Counts a request that is about to be sent. @throws ENDPOINT_BUDGET_SPENT */
  takeRequest(): void {
    const { requests, tokens, cost } = this.#limits;
    const used = this.inputTokens + this.outputTokens;
    if (requests !== undefined && this.requests >= requests) throw spent(`${requests} requests`, "requests");
    if (tokens !== undefined && used >= tokens) throw spent(`${used} of ${tokens} tokens`, "tokens");
    if (cost !== undefined && this.cost >= cost) throw spent(`${rounded(this.cost)} of ${cost} in cost`, "cost");
    this.requests++;
  }

  /** Counts the tokens of an answer and returns their price. */
  add(model: string, usage: UsageCount): number {
    const cost = priceOf(usage, this.#prices[model]);
    this.inputTokens += usage.inputTokens;
    this.outputTokens += usage.outputTokens;
    this.cost += cost;
    return cost;
  }

  /** Returns the price of an answer by the table; 0 for a model without a price. */
  price(model: string, usage: UsageCount): number {
    return priceOf(usage, this.#prices[model]);
  }
}

function priceOf(usage: UsageCount, price: Price | undefined): number {
  if (price === undefined) return 0;
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  const cached = cachedInputTokens * (price.cached_input ?? price.input);
  return ((inputTokens - cachedInputTokens) * price.input + cached + outputTokens * price.output) / 1e6;
}

const rounded = (cost: number): number => Number(cost.toPrecision(6));

function spent(what: string, name: string): MrlmError {
  return new MrlmError("ENDPOINT_BUDGET_SPENT", `The budget of the model client is spent: ${what} were used.`, {
    hint: `Raise \`budget.${name}\`, or end the work.`,
  });
}

import { callTools, type JsonObject, type Message, type Tool, toolCalls, type ToolDefinition } from "@mrlm/kit";

/** Longest goal of a browser in characters. */
const GOAL_CHARACTERS = 2_000;

/** The only tool of `main`. */
export const BROWSE: ToolDefinition = {
  name: "browse",
  description: "Starts a browser with a goal and returns its report. The browser knows nothing but the goal.",
  parameters: {
    type: "object",
    properties: {
      goal: {
        type: "string",
        minLength: 1,
        maxLength: GOAL_CHARACTERS,
        description: "What the browser is to find out.",
      },
    },
    required: ["goal"],
    additionalProperties: false,
  },
};

/** Outcome of a call: a report, or the reason why there is none. */
export interface BrowseResult {
  readonly text: string;
  readonly isError: boolean;
}

/** Calls in one message of `main`. Its browsers work one after another; then all results are shown together. */
export class BrowseCalls {
  readonly message: Message;
  /** In call order; `undefined` until the browser has ended. */
  readonly #results: (BrowseResult | undefined)[];
  readonly #goals: readonly (string | undefined)[];

  /** @param browsers number that may still be started */
  constructor(message: Message, browsers: number) {
    this.message = message;
    const calls = toolCalls(message).filter(({ name }) => name === BROWSE.name);
    let left = browsers;
    const planned = calls.map(({ arguments: given }): { goal?: string; result?: BrowseResult } => {
      const goal = goalOf(given);
      if (goal === undefined) return { result: fault(`goal must be a text of 1 to ${GOAL_CHARACTERS} characters.`) };
      return left-- > 0 ? { goal } : { result: fault("You may start no further browser in this episode.") };
    });
    this.#goals = planned.map(({ goal }) => goal);
    this.#results = planned.map(({ result }) => result);
  }

  /** Goal of the next browser; `undefined` if there is none left. */
  get nextGoal(): string | undefined {
    return this.#goals[this.#results.indexOf(undefined)];
  }

  /** Adds the result of the next browser. */
  add(result: BrowseResult): void {
    this.#results[this.#results.indexOf(undefined)] = result;
  }

  /** Returns the messages for `main`: results in call order, and the faults of other calls. */
  async messages(signal: AbortSignal): Promise<readonly Message[]> {
    const results = this.#results.values();
    const browse: Tool = {
      ...BROWSE,
      call: async () => {
        const { text, isError } = results.next().value as BrowseResult;
        return { content: [{ type: "text", text }], isError };
      },
    };
    return callTools([browse], this.message, { signal });
  }
}

function goalOf({ goal, ...others }: JsonObject): string | undefined {
  const isGoal = typeof goal === "string" && goal.trim() !== "" && goal.length <= GOAL_CHARACTERS;
  return isGoal && Object.keys(others).length === 0 ? goal : undefined;
}

function fault(text: string): BrowseResult {
  return { text, isError: true };
}

import type { JsonObject, OpenToolset, Tool, ToolResult, Toolset } from "@mrlm/kit";
import { type Answer, Calculator, type CalculatorOptions } from "./calculator.ts";
import { longestMs } from "./messages.ts";

/** Characters of an expression. */
const MAX_EXPRESSION = 4_096;

const parameters: JsonObject = {
  type: "object",
  properties: {
    expression: {
      type: "string",
      minLength: 1,
      maxLength: MAX_EXPRESSION,
      description: "For example: 2^64 - 1, sqrt(2)/3, [1, 2; 3, 4] * [5; 6], 60 km/hour to m/s, x = 3; x^2 + 1",
    },
  },
  required: ["expression"],
  additionalProperties: false,
};

/** Time after the last episode until the worker processes end. */
const IDLE_MS = 10_000;

/** Toolset with the tool `calculator`. All episodes share its worker processes; each evaluates one expression at a time. */
export class CalculatorToolset implements Toolset {
  readonly definitions: readonly [Omit<Tool, "call">];
  readonly #calculator: Calculator;
  readonly #options: CalculatorOptions;
  #episodes = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: CalculatorOptions) {
    this.#options = options;
    this.#calculator = new Calculator(options);
    this.definitions = [
      {
        name: "calculator",
        description: describe(options),
        parameters,
        // The calculator ends a call itself, with a reason.
        timeoutMs: 2 * longestMs(options),
        outputBytes: options.outputBytes,
      },
    ];
  }

  async open(): Promise<OpenToolset> {
    this.#episodes++;
    clearTimeout(this.#idle);
    this.#calculator.prepare();
    const caller = {};
    const call: Tool["call"] = async (args, options) =>
      this.#resultOf(await this.#calculator.evaluate(args["expression"] as string, caller, options));
    let isOpen = true;
    const close = async (): Promise<void> => {
      if (!isOpen) return;
      isOpen = false;
      this.#episodes--;
      if (this.#episodes === 0) this.#idle = setTimeout(() => this.#calculator.close(), IDLE_MS).unref();
    };
    return { tools: [{ ...this.definitions[0], call }], close };
  }

  /** Ends the worker processes now. Otherwise they end some seconds after the last episode, and with this process. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#calculator.close();
  }

  #resultOf(answer: Answer): ToolResult {
    switch (answer.kind) {
      case "value":
        return {
          content: [{ type: "text", text: answer.text }],
          isError: false,
          ...(answer.isTruncated ? { truncated: true } : {}),
        };
      case "error":
        return errorResult(answer.text);
      case "timeout":
        return errorResult(
          `The calculation took more than ${this.#options.timeoutMs / 1000} s and was ended. Use smaller numbers, or fewer of them`,
        );
      case "memory":
        return errorResult(
          `The calculation exceeded the memory of ${this.#options.memoryMb} MiB. Use smaller numbers, or fewer of them`,
        );
    }
  }
}

function errorResult(text: string): ToolResult {
  return { content: [{ type: "text", text: `Error: ${text}.` }], isError: true };
}

function describe({ timeoutMs }: CalculatorOptions): string {
  return (
    "Evaluates a mathematical expression: arithmetic, elementary functions, units, matrices, complex numbers. Integers and fractions " +
    `are exact, other results have 64 digits. Write 1000, not 1,000. Separate statements by ; (variables are lost after the call). Limit: ${timeoutMs / 1000} s.`
  );
}

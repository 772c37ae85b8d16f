/** Input of the checker of a HumanEval problem. */
export interface HarnessParts {
  readonly entryPoint: string;
  /** Name of the function in the tests. */
  readonly parameter: string;
  /** Prompt, followed by the reference solution if there is one. */
  readonly program: string;
  readonly hasReference: boolean;
  /** Code around `check`. */
  readonly setUp: string;
}

/**
 * Returns the set-up code of the checker. Helpers that tests use (`poly`, `encode_shift`) are those of the prompt, never of the submission, and so is the entry
 * point if a test compares it with the candidate. They have their own namespace, because tests may use names of builtins.
 */
export function harnessOf({ entryPoint, parameter, program, hasReference, setUp }: HarnessParts): string {
  const entry = JSON.stringify(entryPoint);
  return [
    "import random",
    `_candidate = ${entryPoint}`,
    `_prompt = {"__name__": "prompt"}`,
    `exec(${JSON.stringify(program)}, _prompt)`,
    `globals().update({name: value for name, value in _prompt.items() if not name.startswith("__")${hasReference ? "" : ` and name != ${entry}`}})`,
    `${parameter} = _candidate`,
    "def _example(call, expected):",
    `    value = lambda function: eval(call, {**_prompt, ${entry}: function})`,
    "    try:",
    "        wanted = eval(expected, dict(_prompt))",
    ...(hasReference ? [`        if value(_prompt[${entry}]) != wanted:`, "            return"] : []),
    "    except Exception:",
    "        return",
    "    returned = value(_candidate)",
    `    assert returned == wanted, "it returned " + repr(returned)`,
    setUp,
  ].join("\n");
}

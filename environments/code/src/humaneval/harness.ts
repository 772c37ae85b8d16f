/** What the checker of a HumanEval problem is told. */
export interface HarnessParts {
  readonly entryPoint: string;
  /** What the tests call the function. */
  readonly parameter: string;
  /** The prompt, with the reference solution where there is one. */
  readonly program: string;
  readonly hasReference: boolean;
  /** Code around `check`. */
  readonly setUp: string;
}

/**
 * Set-up code of the checker. Helpers that tests use (`poly`, `encode_shift`) are the prompt's own, never the submission's; so is the entry
 * point itself, where a test compares it with the candidate. They live in a namespace of their own, as names of the tests may be those of builtins.
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

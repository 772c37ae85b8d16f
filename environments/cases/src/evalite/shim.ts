/** Input of a scorer. The output is the answer of the policy, a text. */
export interface ScorerInput<Input = unknown, Expected = unknown> {
  input: Input;
  output: string;
  expected?: Expected;
}

/** Score of evalite. */
interface Score {
  readonly score: number | null;
  readonly name?: string;
  readonly metadata?: unknown;
}

type Scored = number | null | Score;
type Evaluate = (input: ScorerInput) => Scored | Promise<Scored>;

/** Scorer of a suite: a function, such as those of autoevals and of `createScorer`, or the options of `createScorer`. */
export type EvaliteScorer = Evaluate | { readonly name: string; readonly scorer: Evaluate };

/** Case of a suite. */
interface DataPoint {
  readonly input: unknown;
  readonly expected?: unknown;
  readonly only?: boolean;
}

/** Options of `evalite`. `task`, `columns` and `trialCount` are not read: the policy answers. */
interface SuiteOptions {
  readonly data: readonly DataPoint[] | (() => readonly DataPoint[] | Promise<readonly DataPoint[]>);
  readonly scorers?: readonly EvaliteScorer[];
}

/** Suite that a file has registered. */
export interface Suite extends SuiteOptions {
  readonly name: string;
}

/** Name of the exports of a file's `evalite` while it is imported. */
const NAME = "mrlm.evalite";

/** Source text of the module that files import as `evalite`. */
export const SHIM = `const { evalite, createScorer, EvaliteFile } = globalThis[Symbol.for(${JSON.stringify(NAME)})];\nexport { evalite, createScorer, EvaliteFile };`;

/** Suites of a file, and the exports of its `evalite`, from `begin` to `end`. */
export function suiteCollector() {
  const suites: Suite[] = [];
  const exported = globalThis as Record<symbol, unknown>;
  const register = (name: string, options: SuiteOptions): void => void suites.push({ ...options, name });
  // A skipped suite has no cases. Variants differ in the task alone.
  const skip = (): void => undefined;
  const evalite = Object.assign(register, {
    skip,
    experimental_skip: skip,
    each: () => register,
  });
  const exports = {
    evalite,
    createScorer:
      ({ name, scorer }: Exclude<EvaliteScorer, Evaluate>) =>
      async (input: ScorerInput) => ({ ...scoreOf(await scorer(input)), name }),
    EvaliteFile: { fromPath: (path: string) => ({ __EvaliteFile: true, path }) },
  };
  return {
    suites,
    begin: (): void => void (exported[Symbol.for(NAME)] = exports),
    end: (): void => void delete exported[Symbol.for(NAME)],
  };
}

/** Returns a result of a scorer as an object. */
export function scoreOf(result: Scored): Score {
  return typeof result === "object" && result !== null ? result : { score: result };
}

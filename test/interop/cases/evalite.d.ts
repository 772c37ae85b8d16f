/** Part of the types of evalite that examples use: the package is installed by `test:interop` alone. */
declare module "evalite" {
  interface ScorerInput<Input, Expected> {
    input: Input;
    output: string;
    expected?: Expected;
  }
  interface ScorerOptions<Input, Expected> {
    name: string;
    description?: string;
    scorer(given: ScorerInput<Input, Expected>): number | Promise<number>;
  }
  export function createScorer<Input, Output, Expected = Output>(
    options: ScorerOptions<Input, Expected>,
  ): (given: ScorerInput<Input, Expected>) => Promise<{ name: string; score: number | null }>;
  export function evalite<Input, Output, Expected = Output>(
    name: string,
    options: {
      data: readonly { input: Input; expected?: Expected }[];
      task(input: Input): Promise<Output>;
      scorers: readonly ((given: ScorerInput<Input, Expected>) => Promise<{ name: string; score: number | null }>)[];
    },
  ): void;
}

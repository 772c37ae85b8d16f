import { Command } from "@commander-js/extra-typings";
import type { OptionsOf } from "./flag-groups.ts";
import { parseRealNumber, parseWholeNumber } from "./parsers.ts";

export function declareQuery() {
  return new Command("query")
    .description(
      "print or write the rows of a SELECT over the episodes, batches and metrics of a run; docs/reference/store.md has the views",
    )
    .argument("<path>", "a run's directory, or an episode store")
    .argument("<sql>", 'one SELECT, for example "select run_step, avg(reward) from v_episodes group by run_step"')
    .option("--parquet <file>", "write the rows to this Parquet file instead of printing them")
    .option("--overwrite", "replace that file if it exists")
    .option("--limit <n>", "how many rows at most; default: 1000, with --parquet 1000000", parseWholeNumber(1))
    .option("--timeout <seconds>", "end the query after this time", parseRealNumber(), 60);
}
export type QueryOptions = OptionsOf<typeof declareQuery>;

export { EXIT } from "./exit-codes.ts";
export { runCli } from "./run-cli.ts";

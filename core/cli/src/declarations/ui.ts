import { Command } from "@commander-js/extra-typings";
import { declareAccessFlags, type OptionsOf, addFlags } from "./flag-groups.ts";
import { collectTexts, parsePort } from "./parsers.ts";

export function declareUi() {
  const ui = new Command("ui")
    .description("show runs in a browser: curves, findings, episodes, tokens")
    .argument("[runs...]", "runs, folders that hold runs, or files of `mrlm eval --store`; default: runs")
    .option("--port <port>", "0 for any free one", parsePort(), 8_899)
    .option("--open", "open the page in the browser")
    .option(
      "--metrics <url>",
      "address of mrlm serve --metrics-port, for the page of servers; may be given several times",
      collectTexts,
    );
  const access = {
    token: "file with a token that readers must know; or NAME TOKEN in each line",
    clients: "browsers",
    lack: "a token or without TLS",
  };
  return addFlags(ui, declareAccessFlags(access));
}
export type UiOptions = OptionsOf<typeof declareUi>;

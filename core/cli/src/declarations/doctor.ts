import { Command } from "@commander-js/extra-typings";

export function declareDoctor() {
  return new Command("doctor")
    .description(
      "report likely problems of a run (finished, failed or under way), of an evaluation's results or of recorded episodes, and what to try",
    )
    .argument("<paths...>", "runs' directories, files of `mrlm eval --output`, or files of `mrlm collect`");
}

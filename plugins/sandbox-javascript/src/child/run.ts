import type { Answer, ChildRequest, ChildResult } from "@mrlm/sandbox/child";
import { concluded } from "./concluded.ts";
import type { Isolates } from "./isolates.ts";
import { Lifetime } from "./lifetime.ts";
import { Player } from "./player.ts";
import { settle } from "./settle.ts";

/** Runs a program until nothing of it waits any more, or a function of it until it has a result. */
export function runSubmission(
  { submission, limits }: ChildRequest & { readonly op: "run" },
  answer: Answer,
  isolates: Isolates,
): Promise<ChildResult> {
  const { call } = submission;
  const turn = { lifetime: new Lifetime(limits.wallMs), answer, limits };
  let player: Player | undefined;
  return concluded(
    async () => {
      player = new Player({ isolates, submission, ...(call === undefined ? {} : { showsValues: true }), turn });
      player.load(call === undefined ? [] : [call.name]);
      const loaded = await settle(player, turn, call === undefined ? "loaded" : "bound");
      if (call === undefined || loaded.verdict !== "ok") return loaded;
      player.call("start", call.name, JSON.stringify(call.arguments));
      return settle(player, turn, "result");
    },
    () => player?.release(),
  );
}

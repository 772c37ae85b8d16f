import { MrlmError } from "@mrlm/spec";

/** Thrown if an episode cannot continue and must begin again. */
export class EpisodeLost extends MrlmError {
  constructor(episode: string, reason: string) {
    super("SESSION_NOT_FOUND", `Episode ${episode} lost its session: ${reason}.`);
  }
}

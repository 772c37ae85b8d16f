import assert from "node:assert/strict";
import { serialise } from "../contract/serialise.ts";
import { Defect } from "../check/defect.ts";
import { assertReleased, heldResources } from "../provision/held-resources.ts";
import { settles } from "../provision/settles.ts";
import { call, callAll, openEpisode, type ToolCheck, withEpisode } from "./tool-subject.ts";

/** Checks of episodes: many at once, repeated ones, and their state. */
export const episodeChecks: readonly ToolCheck[] = [
  {
    code: "RESULT_UNSTABLE",
    name: "repeats an episode with the same seed",
    run: async (subject) => {
      if (subject.toolset.determinism === "none") return;
      const play = (seed?: number): Promise<string> => withEpisode(subject, (opened) => callAll(subject, opened), seed);
      const alone = await play();
      assert.deepEqual(
        await Promise.all([play(), play(2), play()]).then(([first, , last]) => [first, last]),
        [alone, alone],
        "Three episodes with the same seed and calls have different results.",
      );
    },
  },
  {
    code: "PROVISION_LEAK",
    name: "opens and closes many episodes at once, and keeps nothing of them",
    gate: true,
    run: async (subject) => {
      const play = (): Promise<string> => withEpisode(subject, (opened) => callAll(subject, opened));
      // Processes and pools that all episodes share may start with these and stay.
      await Promise.all(Array.from({ length: subject.episodes }, play));
      const before = await heldResources(subject.directory);
      await Promise.all(Array.from({ length: subject.episodes }, play));
      await assertReleased(before, subject, "Every episode was closed");
    },
  },
  {
    code: "CALL_ABORT_IGNORED",
    name: "rejects opening with an aborted signal, or opens an episode that can be closed",
    run: async (subject) => {
      const before = await heldResources(subject.directory);
      const opening = async (signal: AbortSignal): Promise<void> => (await openEpisode(subject, { signal })).close();
      await settles("Opening with an aborted signal", opening(AbortSignal.abort()));
      const controller = new AbortController();
      const running = opening(controller.signal);
      setTimeout(() => controller.abort(), 5);
      await settles("Opening that was aborted", running);
      await withEpisode(subject, async (opened) => void (await callAll(subject, opened)));
      await assertReleased(before, subject, "Opening was aborted");
    },
  },
];

/** Checks of tools whose examples state a change. */
export const stateChecks: readonly ToolCheck[] = [
  {
    code: "CALLS_INTERFERE",
    name: "keeps the state of an episode from all others",
    run: async (subject) => {
      const { change, read } = subject.state as NonNullable<typeof subject.state>;
      const [one, other] = await Promise.all([openEpisode(subject), openEpisode(subject)]);
      try {
        const before = serialise(await call(other, read));
        const changed = await call(one, change);
        if (changed.isError || serialise(await call(one, read)) === before)
          throw new Defect("EXAMPLE_OUTCOME", "`state.read` does not show `state.change`.");
        assert.equal(serialise(await call(other, read)), before, "An episode reads the state of another one.");
        await one.close();
        const next = await withEpisode(subject, (opened) => call(opened, read));
        assert.equal(serialise(next), before, "An episode reads the state of an earlier one.");
      } finally {
        await Promise.all([one.close(), other.close()]);
      }
    },
  },
];

import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { never, withSession } from "../contract/play.ts";
import { ReturnedValues } from "../contract/returned-values.ts";

/** Checks that every other check needs: the environment can be prepared, and an episode starts. */
export const openingChecks: readonly EnvironmentCheck[] = [
  {
    code: "ENVIRONMENT_UNAVAILABLE",
    name: "can be opened with its default options",
    gate: true,
    run: (subject) => withSession(subject, undefined, async () => undefined),
  },
  {
    code: "OBSERVATION_INVALID",
    name: "starts an episode",
    gate: true,
    run: async (subject) => {
      const returned = new ReturnedValues();
      subject.watched.listen(returned.listener);
      await withSession(subject, undefined, async (session) => void (await session.reset({ signal: never }))).catch(
        (error: unknown) => {
          // The host copies values, so its error states only that one is malformed.
          const [defect] = returned.defects.filter(({ code }) => code === "VALUE_NOT_JSON");
          throw defect ?? error;
        },
      );
    },
  },
];

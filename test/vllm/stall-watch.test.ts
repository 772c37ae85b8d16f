import { expect, test } from "@jest/globals";
import { StallWatch } from "../../plugins/sampler-vllm/src/stall-watch.ts";

/** Looks at which the server completes another sequence, while it does not answer how many tokens it has drawn. */
const LOOKS = 12;

test.each([
  [true, 0],
  [false, 1],
])(
  "sequences that end while another one runs: they count as progress if they are complete (%s)",
  async (isComplete, stalls) => {
    let [looks, found] = [0, 0];
    const done = Promise.withResolvers<void>();
    const watch: StallWatch = new StallWatch({
      url: "http://x",
      limitMs: 4,
      async countTokens() {
        watch.begin().end(isComplete);
        if (++looks === LOOKS) {
          last.end(true);
          done.resolve();
        }
        throw new Error("no answer");
      },
      isUpdating: () => false,
      onStall() {
        found++;
        done.resolve();
      },
    });
    const last = watch.begin();
    await done.promise;
    expect(found).toBe(stalls);
    expect(last.signal.aborted).toBe(stalls > 0);
  },
);

import { definePlugin, observe, singleStep, textMessage } from "@mrlm/kit";

/** Counters over the environments of this process. */
export const counts = { steps: 0, aborted: 0, closed: 0 };

/** Environment that counts its steps. A step with the message `wait N` takes N milliseconds. */
export const countingPlugin = definePlugin({
  name: "counting",
  environments: [
    {
      id: "counting@1",
      description: "Counts its steps.",
      determinism: "full",
      create: () => {
        let steps = 0;
        return {
          async reset({ seed }) {
            steps = 0;
            return observe([textMessage("user", `seed ${seed}`)]);
          },
          async step({ message: { parts } }, { signal }) {
            const [part] = parts;
            const [word, milliseconds] = part?.type === "text" ? part.text.split(" ") : [];
            if (word === "wait") {
              await new Promise<void>((resolve) => {
                const timer = setTimeout(resolve, Number(milliseconds));
                signal.addEventListener("abort", () => {
                  counts.aborted++;
                  clearTimeout(timer);
                  resolve();
                });
              });
            }
            counts.steps++;
            return singleStep({ messages: [textMessage("user", `step ${steps++}`)] });
          },
          async close() {
            counts.closed++;
          },
        };
      },
    },
  ],
});

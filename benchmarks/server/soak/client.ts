/** Client process of the soak: plays episodes in 32 sessions, sends the number of steps to its parent each second, and ends when it is killed. */
import { connectEnvironments } from "@mrlm/client";
import { textMessage } from "@mrlm/kit";
import { MrlmError } from "@mrlm/spec";

const SESSIONS = 32;
const STEPS = 20;
const { signal } = new AbortController();
const host = await connectEnvironments(`127.0.0.1:${process.argv[2]}`);
let steps = 0;
setInterval(() => {
  process.send?.(steps);
  steps = 0;
}, 1_000);
process.on("disconnect", () => process.exit());

await Promise.all(
  Array.from({ length: SESSIONS }, async () => {
    for (;;) await playEpisode();
  }),
);

async function playEpisode(): Promise<void> {
  const session = await host.open({ id: "echo@1" });
  try {
    await session.reset({ signal });
    for (let step = 0; step < STEPS; step++) {
      const text = `step ${step}`;
      const message = textMessage("assistant", text);
      const { observation } = await session.step({ agent: "agent", message, finishReason: "stop" }, { signal });
      const [part] = observation.messages[0]?.parts ?? [];
      if (part?.type !== "text" || part.text !== text) throw new Error("A step got the response of another one.");
      steps++;
    }
  } catch (error) {
    // A killed worker ends its sessions: the one at work fails, the others are lost.
    if (!MrlmError.hasCode(error, "ENVIRONMENT_FAILED", "SESSION_NOT_FOUND", "SERVER_UNAVAILABLE")) throw error;
  } finally {
    await session.close();
  }
}

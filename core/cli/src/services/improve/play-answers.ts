import { textMessage } from "@mrlm/kit";
import { type Reward, SINGLE_AGENT, type TaskId } from "@mrlm/spec";
import type { EnvironmentHost, EnvironmentRef, EnvironmentSession } from "@mrlm/spec/host";

/** Episodes that are played at once. */
const LANES = 6;

/** Plays answers in tasks of one turn each. Returns their rewards in order. */
export async function playAnswers(
  host: Pick<EnvironmentHost, "open">,
  ref: EnvironmentRef,
  jobs: readonly { readonly task: TaskId; readonly text: string }[],
  signal: AbortSignal,
): Promise<Reward[]> {
  const rewards: Reward[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    const session = await host.open(ref);
    try {
      while (next < jobs.length) {
        const i = next++;
        rewards[i] = await playAnswer(session, jobs[i] as (typeof jobs)[number], signal);
      }
    } finally {
      await session.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, jobs.length) }, lane));
  return rewards;
}

async function playAnswer(
  session: EnvironmentSession,
  { task, text }: { readonly task: TaskId; readonly text: string },
  signal: AbortSignal,
): Promise<Reward> {
  const { agent } = await session.reset({ task, signal });
  const action = { agent, message: textMessage("assistant", text), finishReason: "stop" } as const;
  const { rewards } = await session.step(action, { signal });
  return rewards[SINGLE_AGENT] as Reward;
}

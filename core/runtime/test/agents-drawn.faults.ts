import { expect, test } from "@jest/globals";
import type { AgentCall } from "@mrlm/kit/agent";
import { wastedSpans } from "@mrlm/kit/learning";
import type { Message, Trajectory } from "@mrlm/spec";
import { drawnPrograms, readable } from "./support/drawn-program.ts";
import { collect, localHost, runner } from "./support/rollouts.ts";

const CASES = 10_000;
const REASONS = ["aborted", "after-end", "superseded"];

interface AgentInfo {
  readonly wasted: readonly number[];
  readonly turns: readonly { readonly unread?: string }[];
}

/** Returns the faults of an episode: agents that read another history than the program sent, and tokens that are neither learnt nor left out for a reason. */
function faultsOf(trajectory: Trajectory, calls: readonly AgentCall[]): string[] {
  const { turns, agents, error } = trajectory;
  if (error !== undefined) return [`failed with ${error.code}: ${error.message}`];
  const faults: string[] = [];
  const { wasted, turns: records } = (trajectory.info as unknown as { readonly agent: AgentInfo }).agent;
  for (const [i, { unread }] of records.entries())
    if (wasted.includes(i) !== REASONS.includes(unread ?? "")) faults.push(`turn ${i}: not read: ${unread}`);
  for (const [agent, { segments, end }] of Object.entries(agents)) {
    if (!end.terminated) faults.push(`${agent}: no end`);
    const own = calls.filter((each) => each.agent === agent);
    let shown: Message[] = [];
    const acted = turns.filter((turn) => turn.agent === agent);
    if (acted.length !== own.length) faults.push(`${agent}: ${acted.length} turns, ${own.length} calls`);
    for (const [i, { messages, isFresh, response }] of acted.entries()) {
      shown = [...(isFresh === true ? [] : shown), ...messages];
      const sent = own[i]?.messages ?? [];
      if (JSON.stringify(readable(shown)) !== JSON.stringify(readable(sent)))
        faults.push(`${agent}, turn ${i}: read ${readable(shown).join()} for ${readable(sent).join()}`);
      shown.push(response);
    }
    const sampled = acted.reduce((sum, { tokens }) => sum + (tokens?.end ?? 0) - (tokens?.start ?? 0), 0);
    const learnt = segments.reduce((sum, { mask }) => sum + mask.reduce((count, bit) => count + bit, 0), 0);
    const unread = wastedSpans(trajectory, agent).reduce((sum, { start, end: to }) => sum + to - start, 0);
    if (sampled !== learnt + unread) faults.push(`${agent}: ${sampled} sampled, ${learnt} learnt, ${unread} not read`);
  }
  return faults;
}

test(`${CASES} drawn programs: each agent reads what the program sent, and each sampled token is learnt or was not read`, async () => {
  const calls = new Map<string, readonly AgentCall[]>();
  const host = await localHost(drawnPrograms(CASES, (task, made) => calls.set(task, made)));
  const groups = await collect(await runner({ host }), {
    environment: { id: "programs" },
    tasks: Array.from({ length: CASES }, (_, i) => `train/${i}` as const),
    groupSize: 1,
    sampling: { temperature: 1, maxTokens: 4 },
  });
  const seen = { unread: 0, fresh: 0, agents: 0, continued: 0, cut: 0 };
  const faults: string[] = [];
  let failed = 0;
  for (const trajectory of groups.flatMap(({ trajectories }) => trajectories)) {
    // A program that leaves its only call has none.
    if (trajectory.error?.code === "AGENT_FAILED") {
      failed++;
      continue;
    }
    const own = calls.get(trajectory.task) ?? [];
    for (const fault of faultsOf(trajectory, own)) faults.push(`${trajectory.task}: ${fault}`);
    seen.agents += Object.keys(trajectory.agents).length;
    seen.fresh += trajectory.turns.filter(({ isFresh }) => isFresh === true).length;
    seen.continued += own.filter(({ match }) => match === "continues").length;
    seen.cut += own.filter(({ match }) => match === "cut").length;
    seen.unread += own.filter(({ isRead }) => !isRead).length;
  }
  expect(faults.slice(0, 5)).toEqual([]);
  expect(failed).toBeLessThan(CASES / 10);
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100);
  await host.close();
}, 600_000);

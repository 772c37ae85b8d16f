import { SINGLE_AGENT } from "@mrlm/kit";
import { agentEnvironment } from "@mrlm/kit/agent";
import type { Requirement } from "@mrlm/kit";
import { fixtures } from "./fixtures.ts";
import { type AgentOptions, agentOptions, DEADLINE_MS } from "./options.ts";
import { openAgent, type Program, runAgent } from "./program.ts";
import { scoreAgent } from "./score.ts";
import { agentTasks, type Hidden, type Shown } from "./tasks.ts";

const ASKER = "the option `score`";

/** `agent@1`. */
export const agent = agentEnvironment<AgentOptions, Shown, Hidden, Program>({
  id: "agent@1",
  description: "A program in a workspace, in any language, whose calls of a model are the turns.",
  determinism: "none",
  options: agentOptions,
  requires(_, { score: { scorer, judge } }): Requirement[] {
    return [
      { id: "workspace:linux", asker: "environment agent@1" },
      ...(scorer === undefined ? [] : [{ id: `scorer:${scorer}`, asker: ASKER } as const]),
      ...(judge === undefined ? [] : [{ id: `judge:${judge}`, asker: ASKER } as const]),
    ];
  },
  rewardRange: ({ score }) => score.range,
  deadlines: { setupMs: DEADLINE_MS, stepMs: DEADLINE_MS, closeMs: 60_000 },
  // Sub-agents, and calls for titles, are conversations of their own.
  roles: { [SINGLE_AGENT]: { many: true } },
  limits: ({ limits: { calls, call_tokens, seconds, total_seconds } }) => ({
    ...{ calls, callTokens: call_tokens ?? Infinity, seconds, totalSeconds: total_seconds },
  }),
  tasks: agentTasks,
  open: openAgent,
  run: runAgent,
  score: scoreAgent,
  fixtures,
});

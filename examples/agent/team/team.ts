import { createMrlm } from "@mrlm/ai-sdk";
import { definePlugin, generatedTasks } from "@mrlm/kit";
import { agentEnvironment } from "@mrlm/kit/agent";
import { handle, PROCEDURES } from "./agent.ts";

/** Department of each complaint. */
const DEPARTMENTS = { fee: "b", late: "d", torn: "p", swap: "r" } as const;
const COMPLAINTS = Object.keys(DEPARTMENTS) as (keyof typeof DEPARTMENTS)[];

const team = agentEnvironment({
  id: "team@1",
  description: "A planner names a department for a complaint, and a worker the procedure of the department.",
  roles: { planner: {}, worker: {} },
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 400, share: 8 }, eval: { size: 50, share: 1 } },
      generate: (random) => {
        const about = random.pick(COMPLAINTS);
        const complaint = `${about} ${random.integer(100, 999)}`;
        const procedure = PROCEDURES[DEPARTMENTS[about]] as string;
        return { public: { complaint }, private: { procedure }, key: complaint };
      },
    }),
  limits: { calls: 2 },
  run({ task, model, signal }) {
    const of = (role: string) => createMrlm(model.role(role))(role);
    return handle(task.public.complaint, { planner: of("planner"), worker: of("worker") }, signal);
  },
  score({ end, task }) {
    if (end.kind !== "returned") return undefined;
    const { department, procedure } = end.result as { department: string; procedure: string | null };
    return {
      planner: Number(procedure === task.private.procedure),
      worker: Number(procedure !== null && procedure === PROCEDURES[department]),
    };
  },
});

export default definePlugin({ name: "team-agent", environments: [team] });

import { defineEnvironment, definePlugin } from "@mrlm/kit";
import { ConsultationEnvironment } from "./environment.ts";
import { examples } from "./examples.ts";
import { fixtures } from "./fixtures.ts";
import { consultationJudge } from "./judge.ts";
import { consultationOptions } from "./options.ts";
import { scriptedPolicies } from "./scripted-policies.ts";
import { consultationTasks } from "./tasks.ts";

/** `consultation@1`: a doctor questions a patient and makes a diagnosis; both learn from the same dialogue. */
const consultation = defineEnvironment({
  id: "consultation@1",
  description: "A doctor questions a patient and makes a diagnosis; a judge scores both.",
  determinism: "full",
  options: consultationOptions,
  roles: {
    doctor: { description: "Asks questions and makes the diagnosis." },
    patient: { description: "Knows the findings and answers." },
  },
  rewardComponents: ["diagnosis", "questions", "truth"],
  requires: (_context, { judge }) => [{ id: `judge:${judge}`, asker: "the option `judge` of consultation@1" }],
  tasks: (_context, options) => consultationTasks(options),
  create: (context, options) => new ConsultationEnvironment(context, options),
  scriptedPolicies,
  fixtures,
});

export default definePlugin({
  name: "@mrlm/environment-consultation",
  environments: [consultation],
  judges: { "consultation@1": () => consultationJudge },
  examples,
});

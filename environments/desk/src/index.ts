import { defineEnvironment, definePlugin } from "@mrlm/kit";
import { scriptedPolicies } from "./customer.ts";
import { demonstrate, DeskEnvironment } from "./environment.ts";
import { fixtures } from "./fixtures.ts";
import { deskOptions } from "./options.ts";
import { deskTasks } from "./tasks.ts";

/** `desk@1`: a service desk with a database, a policy and a customer. */
const desk = defineEnvironment({
  id: "desk@1",
  description: "A customer asks a service desk, whose agent changes a database by tools as a policy demands.",
  determinism: "full",
  options: deskOptions,
  roles: {
    agent: { description: "Answers the customer, and decides by the policy with tools." },
    user: { description: "The customer, who earns nothing. Usually the scripted policy `customer` or another model." },
  },
  rewardComponents: ["solved"],
  maxTurns: 60,
  tasks: (_context, options) => deskTasks(options),
  create: (context, options) => new DeskEnvironment(context, options),
  demonstrate,
  scriptedPolicies,
  fixtures,
});

export default definePlugin({ name: "@mrlm/environment-desk", environments: [desk] });

import { defineEnvironment, definePlugin } from "@mrlm/kit";
import { ResearchEnvironment } from "./environment.ts";
import { fixtures } from "./fixtures.ts";
import { type ResearchOptions, researchOptions } from "./options.ts";
import { scriptedPolicies } from "./scripted-policies.ts";
import { fileQuestions, generatedQuestions } from "./tasks.ts";

/** `research@2`: a main agent that starts browsers with fresh contexts, over a search. */
export const research = defineEnvironment<ResearchOptions>({
  id: "research@2",
  description:
    "A main agent answers a question from the reports of browsers, each of which starts with a fresh context.",
  determinism: "full",
  options: researchOptions,
  roles: {
    main: { description: "Starts browsers and answers." },
    browser: { description: "Searches and reads pages for one goal, and reports.", many: true },
  },
  rewardComponents: ["answer", "format"],
  rewardRange: ({ rewards: { answer, browser_format, browser_answer } }) => {
    const totals = [0, answer, browser_format, browser_answer, browser_format + browser_answer];
    return [Math.min(...totals), Math.max(...totals)];
  },
  requires: (_context, { scorer, toolset }) => [
    { id: `scorer:${scorer}`, asker: "the option `scorer` of research@2" },
    { id: `tool:${toolset}`, asker: "the option `toolset` of research@2" },
  ],
  tasks: (context, options) =>
    options.data === undefined ? generatedQuestions(options) : fileQuestions(context, options.data, options.task_seed),
  create: (context, options) => new ResearchEnvironment(context, options),
  scriptedPolicies,
  fixtures,
});

export default definePlugin({ name: "@mrlm/environment-research", environments: [research] });

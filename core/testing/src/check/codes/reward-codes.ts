/** Codes of findings about rewards, and of strategies that solve nothing. */
export const REWARD_CODES = {
  ANSWERS_LISTED: {
    severity: "warning",
    title: "A message with the answers of many tasks earns more than no answer.",
    fix: "Accept one answer: the last one, or none if there are several.",
  },
  ECHO_REWARDED: {
    severity: "warning",
    title: "The prompt as the answer earns more than no answer.",
    fix: "Score what the answer adds to the prompt, or give no partial reward.",
  },
  EMPTY_REWARDED: {
    severity: "warning",
    title: "Empty messages earn more than the fixture that does nothing.",
    fix: "Give an empty answer the reward of no answer.",
  },
  FORGERY_REWARDED: {
    severity: "warning",
    title: "A message that claims a result or a reward earns more than no answer.",
    fix: "Read the verdict from where the policy cannot write: not from its text, and not from the output of its code.",
  },
  GOLD_BELOW_TOP: {
    severity: "warning",
    title: "No gold fixture earns the top of the range of rewards.",
    fix: "Correct `rewardRange`, or add a gold fixture that earns all of it.",
  },
  JUDGE_INSTRUCTED: {
    severity: "warning",
    title: "A message with instructions to a judge earns more than no answer.",
    fix: "Mark the judged text as data in the prompt of the judge, and ask for a verdict in a form that the text cannot forge.",
  },
  NOISE_REWARDED: {
    severity: "warning",
    title: "64 KB of noise earn more than no answer.",
    fix: "Require the form of the answer, and bound its length.",
  },
  OTHER_GOLD_REWARDED: {
    severity: "warning",
    title: "The right answer of another task earns more than no answer.",
    fix: "Compare the answer with the one of this task, or give no partial reward.",
  },
  REWARD_COMPONENT_UNDECLARED: {
    severity: "error",
    title: "A reward has a component that the definition does not declare.",
    fix: "List the name in `rewardComponents`.",
  },
  REWARD_OUT_OF_RANGE: {
    severity: "error",
    title: "The rewards of an agent in an episode add up to a number outside of the range.",
    fix: "Correct the reward, or state the range: `rewardRange: [least, largest]`.",
    implies: ["GOLD_BELOW_TOP"],
  },
  STRATEGY_PAYS: {
    severity: "error",
    title:
      "A strategy that solves nothing earns half of what a right answer earns, or as much in a fifth of the episodes.",
    fix: "Make the reward depend on a right answer: a policy learns the strategy first, since it is easier.",
  },
} as const;

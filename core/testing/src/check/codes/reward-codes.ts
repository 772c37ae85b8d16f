/** Codes of findings about rewards, and of programs that solve nothing. */
export const REWARD_CODES = {
  GOLD_BELOW_TOP: {
    severity: "warning",
    title: "No gold fixture earns the top of the range of rewards.",
    fix: "Correct `rewardRange`, or add a gold fixture that earns all of it.",
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
      "A program that solves nothing earns half of the way to a right answer, or the top reward in a fifth of the tasks, or leaves wrong answers unscored.",
    fix: "Make the reward depend on a right answer: a policy learns the program first, since it is easier.",
  },
} as const;

/** Row of an episode in which one agent plays one turn. */
export const episodeRow = {
  id: "0",
  environment: "math@2",
  task: "eval/3",
  seed: 1,
  group: "0",
  member: 0,
  agent: "agent",
  role: "agent",
  player: { kind: "policy" as const, name: "policy", policy: "policy" },
  renderer: "",
  segments: [],
  components: {},
  terminated: true,
  truncated: false,
};

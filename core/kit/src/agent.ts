/** Entry for environments whose episodes are runs of a program that calls a model. */

export { agentEnvironment } from "./agent/agent-environment.ts";
export { howEnded, openProgram, type ProgramWorkspace } from "./agent/program-workspace.ts";
export type { AgentCall, AgentDefinition, AgentEnding, AgentModel, AgentRun, CallRule } from "./agent/types.ts";

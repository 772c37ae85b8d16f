// Opens episodes and ends without closing them, as a process that is killed does. Started by tests with the pid that marks its servers.
import { episode, scripted, toolset } from "./toolset.ts";

const env = { MRLM_TEST_RUN: process.argv[2] ?? "" };
const tools = await toolset({ mcpServers: { s: { ...scripted("--ignore-term"), env } } });
await Promise.all([episode(tools), episode(tools)]);
process.kill(process.pid, "SIGKILL");

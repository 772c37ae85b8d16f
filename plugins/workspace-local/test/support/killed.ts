// A process that has a workspace with a command, a shell and its job, and waits to be killed.
import { LocalWorkspaces } from "@mrlm/sandbox";

const workspace = await (await LocalWorkspaces.make()).open();
void workspace.exec("setsid sleep 610.25 & sleep 610.25", { onOutput: () => undefined });
const shell = await workspace.shell();
await shell.run("nohup sleep 610.25 & sleep 0.2");
process.stdout.write("ready\n");

// A process that plays eight programs, and waits to be killed.
import { openWorkspaces, play, PYTHON } from "./play.ts";

const COUNT = 8;
const workspaces = await openWorkspaces();
let calls = 0;
const body = "if os.fork() == 0: os.setsid()\nask('a'); time.sleep(600)";
for (let i = 0; i < COUNT; i++)
  void play(workspaces, {
    files: { "agent.py": `${PYTHON}\n${body}` },
    policy() {
      if (++calls === 2 * COUNT) process.stdout.write("ready\n");
      return "continue";
    },
  });

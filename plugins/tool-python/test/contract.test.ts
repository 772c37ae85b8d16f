import { toolsetContract } from "@mrlm/testing";
import { PythonToolset } from "../src/python-toolset.ts";
import { makeSandbox } from "./support/sandboxes.ts";

const python = (code: string) => ({ tool: "python", args: { code } });

toolsetContract({
  name: "tool-python",
  make: async () => {
    const sandbox = await makeSandbox({ sessions: 2 });
    const toolset = new PythonToolset(sandbox, { idleMs: 600_000 });
    const { definitions } = toolset;
    // A host closes the sandbox, which other tools may use too.
    return { definitions, open: (episode) => toolset.open(episode), close: () => sandbox.close() };
  },
  files: { "data.csv": "1,2\n" },
  calls: [python("import random\nx = sum(map(int, open('data.csv').read().split(',')))"), python("x, random.random()")],
  state: {
    change: python("y = 1\nopen('new', 'w').close()"),
    read: python("import os\n'y' in globals(), os.listdir()"),
  },
  episodes: 8,
  slow: python("import time\ntime.sleep(9)"),
});

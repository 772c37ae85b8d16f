// Starts a child with processes of its own and a folder, and waits to be killed.
import { listTree, onLines, startChild, temporaryFolder } from "@mrlm/process";

const folder = temporaryFolder("owner");
const child = startChild({ command: "sh", args: ["-c", "sleep 600 & (setsid sleep 601 &) ; echo ready; wait"] });
onLines(child, () => {
  const look = setInterval(() => {
    const tree = listTree(child.tree as never);
    if (tree.length < 2) return;
    clearInterval(look);
    console.log(JSON.stringify({ pids: [child.process.pid, ...tree.map(({ pid }) => pid)], folder: folder.path }));
  }, 10);
});

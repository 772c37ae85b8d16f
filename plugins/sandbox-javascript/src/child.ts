// The child process: carries out requests in isolates that live no longer than a request.
import { serveRequests } from "@mrlm/sandbox/child";
import ivm from "isolated-vm";

serveRequests(async (request, answer) => {
  if (request.op !== "run") throw new Error(`unknown request ${request.op}`);
  const isolate = new ivm.Isolate({ memoryLimit: 64 });
  try {
    const context = isolate.createContextSync();
    context.global.setSync("print", new ivm.Callback((text: string) => void answer.output("stdout", `${text}\n`)));
    context.evalSync(request.submission.code, { timeout: request.limits.wallMs, filename: "submission.js" });
    return { verdict: "ok" };
  } catch (error) {
    return { verdict: "error", error: { name: (error as Error).name, message: (error as Error).message, trace: "" } };
  } finally {
    isolate.dispose();
  }
}, ["isolate", "node-permissions"]);

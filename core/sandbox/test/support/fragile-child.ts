// A child whose "programs" are single words. Each names how the child ends, or what it does instead of an answer.
import { randomUUID } from "node:crypto";
import { serveRequests } from "../../src/child.ts";

const name = randomUUID();

let runs = 0;
let evaluations = 0;
let death: NodeJS.Timeout | undefined;

serveRequests((request) => {
  switch (request.op) {
    case "run":
      runs += 1;
      if (request.submission.code === "die if used" && runs > 1) process.abort();
      break;
    case "open":
      evaluations = 0;
      if (request.files["fault"] !== undefined)
        return { verdict: "error", error: { name: "OSError", message: "no space", trace: "" } };
      return { verdict: "ok" };
    case "close":
      clearTimeout(death);
      return { verdict: "ok" };
    case "evaluate":
      evaluations += 1;
      break;
    default:
      throw new Error(`no ${request.op} here`);
  }
  const { code } = request.submission;
  if (code === "die") process.abort();
  if (code === "exit") return { verdict: "ok", exitCode: 0, spent: true };
  if (code === "die later") death = setTimeout(() => process.abort(), 100);
  if (code === "fail") throw new Error("the sandbox is broken");
  if (code === "hang") return new Promise(() => {});
  return { verdict: "ok", value: request.op === "run" ? runs : [name, evaluations] };
});

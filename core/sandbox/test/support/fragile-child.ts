// A child whose "programs" are one of three words, each of which names how the child ends.
import { serveRequests } from "../../src/child.ts";

let runs = 0;

serveRequests((request) => {
  if (request.op !== "run") throw new Error(`no ${request.op} here`);
  const { code } = request.submission;
  runs += 1;
  if (code === "die" || (code === "die if used" && runs > 1)) process.abort();
  return { verdict: "ok", value: runs };
});

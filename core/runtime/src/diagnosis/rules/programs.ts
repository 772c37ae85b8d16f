import { mean, percent, recent, series, short, type StageRule } from "../finding.ts";

/** Shares of the calls of a program, and of the episodes. */
const REWRITTEN = 0.2;
const ENDED = 0.2;

/** A conversation that starts over is a segment of its own: the learner reads its history again. */
export const rewrittenHistories: StageRule = ({ iterations }) => {
  const of = (name: string): number => mean(recent(series(iterations, `agent/${name}`)));
  const share = of("rewritten") / of("calls");
  if (!(share > REWRITTEN)) return undefined;
  return {
    rule: "rewritten-histories",
    severity: "hint",
    what: `${percent(share)} of the calls of the program change the past of their conversation (${short(of("segments"))} segments an episode): each is learnt as a new one.`,
    advice:
      "See the first messages of the turns (`mrlm show RUN`). Causes are a time in the system prompt, answers that the program edits or returns without their reasoning, `stop`, and summaries. Keep the past of a conversation as it was sent.",
  };
};

export const programsEnd: StageRule = ({ iterations }) => {
  const of = (name: string): number => mean(recent(series(iterations, `agent/${name}`)));
  const [failed, limited] = [of("failed") || 0, of("limited") || 0];
  if (!(failed > ENDED || limited > ENDED)) return undefined;
  return {
    rule: "programs-end-early",
    severity: "hint",
    what: `${percent(failed)} of the programs threw an error, and ${percent(limited)} met a limit (${percent(of("call_limited") || 0)} that of calls, the others one of seconds).`,
    advice:
      "Read the ends of episodes (`mrlm show RUN`). A program that throws for an answer of another form earns the least reward unless `score` has a case for it; `limits.calls`, `limits.seconds` and `limits.totalSeconds` of the environment must leave room for whole runs.",
  };
};

// npm run test:faults -- code: every cheat, and every problem of HumanEval, of which npm test takes a sample.
import { cheatTests } from "./support/cheat-tests.ts";
import { humanEvalTests } from "./support/humaneval-tests.ts";

cheatTests(1);
humanEvalTests(1);

import { humanEvalTests } from "./support/humaneval-tests.ts";

// All of them: npm run test:faults -- code.
humanEvalTests(8);

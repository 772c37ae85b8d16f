import { solveTests } from "./support/solve.ts";

// 200 tasks of each family: npm run test:faults -- tools.
await solveTests(3);

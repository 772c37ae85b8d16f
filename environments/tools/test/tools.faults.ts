// npm run test:faults -- tools: 200 generated tasks of each family, of which npm test plays a few.
import { solveTests } from "./support/solve.ts";

await solveTests(200);

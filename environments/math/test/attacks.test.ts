import { attackTests } from "./support/attacks.ts";

// 200 tasks: npm run test:faults -- math
attackTests(4);

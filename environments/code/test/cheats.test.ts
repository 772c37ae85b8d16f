import { cheatTests } from "./support/cheat-tests.ts";

// All of them: npm run test:faults -- code.
cheatTests(4);

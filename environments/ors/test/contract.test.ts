import { contract } from "./support/contract.ts";

await contract(false);

export { servePolicies } from "./serve-policies.ts";
export type { PolicySource } from "./served-policy.ts";

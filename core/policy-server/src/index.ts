export type { ServerMetrics } from "./request-log.ts";
export { type PolicyServer, servePolicies, type ServePoliciesOptions } from "./serve-policies.ts";
export type { PolicySource } from "./served-policy.ts";

import { PooledSandbox, type PooledSandboxOptions } from "@mrlm/sandbox";
import { isolatedVmBackend } from "../../src/backend.ts";

export function makeSandbox(options: Omit<PooledSandboxOptions, "backend"> = {}): PooledSandbox {
  return new PooledSandbox({ backend: isolatedVmBackend, ...options });
}

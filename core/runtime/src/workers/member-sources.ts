import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { JsonObject } from "@mrlm/spec";
import type { Engine, EnvironmentHost, Member } from "@mrlm/spec/host";
import type { MemberSource } from "./membership.ts";

/** Returns a name of this process that no other process of a run has. */
export function processName(): string {
  return `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
}

/** This process as a member. @param address where other processes of the run reach it */
export function thisProcess(
  id: string,
  kind: Member["kind"],
  capabilities: JsonObject,
  address?: string,
): MemberSource {
  const place = address === undefined ? {} : { address };
  return async () => [{ id, kind, ...place, capabilities: { host: hostname(), pid: process.pid, ...capabilities } }];
}

/** Engine of a run, with its address for the list of members. */
export interface MemberEngine {
  readonly engine: Pick<Engine, "describe">;
  readonly address?: string;
}

/** An engine that this process trains with, while it answers. */
export function engineMember({ engine, address }: MemberEngine): MemberSource {
  return async () => {
    const { instanceId, device, deviceName, deterministic, worldSize } = await engine.describe();
    const capabilities = { device, deviceName, deterministic, worldSize };
    return [
      {
        id: `engine-${instanceId.slice(0, 12)}`,
        kind: "engine",
        ...(address === undefined ? {} : { address }),
        capabilities,
      },
    ];
  };
}

/** Environment servers that answer. Environments of this process are no members. */
export function environmentServers(host: EnvironmentHost, environments: readonly string[]): MemberSource {
  return async () =>
    (host.servers?.() ?? [])
      .filter(({ isConnected }) => isConnected)
      .map(({ address }) => ({
        id: `environments@${address}`,
        kind: "environments",
        address,
        capabilities: { environments: [...new Set(environments)] },
      }));
}

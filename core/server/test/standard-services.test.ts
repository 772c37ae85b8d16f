import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { HEALTH_SERVICE, REFLECTION_SERVICES, healthProto, type reflectionProto as wire } from "@mrlm/wire";
import { type EnvironmentServer, serveEnvironments } from "../src/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { scriptedHost } from "./support/scripted-host.ts";

const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = healthProto.HealthCheckResponse_ServingStatus;

let server: EnvironmentServer;
let client: RawClient;
beforeAll(async () => {
  server = await serveEnvironments({ host: scriptedHost(), address: "127.0.0.1:0" });
  client = new RawClient(server.port);
});
afterAll(async () => {
  client.close();
  await server.close();
});

/** Returns the responses to these requests, in order. */
async function reflect(
  version: 0 | 1,
  ...questions: NonNullable<wire.ServerReflectionRequest["messageRequest"]>[]
): Promise<wire.ServerReflectionResponse["messageResponse"][]> {
  const call = client.duplex(
    (REFLECTION_SERVICES[version] as (typeof REFLECTION_SERVICES)[number]).serverReflectionInfo,
  );
  for (const messageRequest of questions) call.write({ host: "", messageRequest });
  call.end();
  const answers = [];
  for await (const { messageResponse } of call as AsyncIterable<wire.ServerReflectionResponse>)
    answers.push(messageResponse);
  return answers;
}

describe("reflection", () => {
  test.each([0, 1] as const)("lists the services and describes their files (version %s)", async (version) => {
    const [list, bySymbol, byName, missing] = await reflect(
      version,
      { $case: "listServices", listServices: "" },
      { $case: "fileContainingSymbol", fileContainingSymbol: "mrlm.env.v1.EnvironmentService.Step" },
      { $case: "fileByFilename", fileByFilename: "mrlm/env/v1/environment.proto" },
      { $case: "fileContainingSymbol", fileContainingSymbol: "no.such.Thing" },
    );
    expect(
      list?.$case === "listServicesResponse" && list.listServicesResponse.service.map(({ name }) => name),
    ).toContain("mrlm.env.v1.EnvironmentService");
    expect(bySymbol).toEqual(byName);
    const [file] =
      bySymbol?.$case === "fileDescriptorResponse" ? bySymbol.fileDescriptorResponse.fileDescriptorProto : [];
    expect(Buffer.from(file ?? []).toString("latin1")).toContain("StepRequest");
    expect(missing).toMatchObject({ errorResponse: { errorCode: 5 } });
  });
});

describe("health", () => {
  test("reports the services that serve, and when they stop", async () => {
    const check = (service: string) => client.unary(HEALTH_SERVICE.check, { service });
    expect(await check("")).toEqual({ status: SERVING });
    expect(await check("mrlm.env.v1.EnvironmentService")).toEqual({ status: SERVING });
    expect(await check("counting@1")).toEqual({ status: SERVING });
    await expect(check("unknown")).rejects.toThrow(/unknown/);
    const watch = (service: string) => {
      const call = client.duplex(HEALTH_SERVICE.watch);
      call.write({ service });
      call.end();
      return (call as AsyncIterable<healthProto.HealthCheckResponse>)[Symbol.asyncIterator]();
    };
    const unknown = watch("unknown");
    expect((await unknown.next()).value).toEqual({ status: SERVICE_UNKNOWN });
    const watched = watch("");
    expect((await watched.next()).value).toEqual({ status: SERVING });
    const environment = watch("counting@1");
    expect((await environment.next()).value).toEqual({ status: SERVING });
    server.setServing("counting@1", false);
    expect((await environment.next()).value).toEqual({ status: NOT_SERVING });
    expect([await check("counting@1"), await check("")]).toEqual([{ status: NOT_SERVING }, { status: SERVING }]);
    server.setServing("counting@1", true);
    expect((await environment.next()).value).toEqual({ status: SERVING });
    server.setServing("unknown", true);
    expect((await unknown.next()).value).toEqual({ status: SERVING });
    await server.close();
    expect((await environment.next()).value).toEqual({ status: NOT_SERVING });
    expect((await watched.next()).value).toEqual({ status: NOT_SERVING });
    expect((await watched.next()).done).toBe(true);
  });
});

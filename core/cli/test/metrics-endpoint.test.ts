import { expect, test } from "@jest/globals";
import { serveMetrics } from "../src/services/metrics-endpoint.ts";

test("metrics are served on a free port; a port in use and a foreign address are named", async () => {
  const endpoint = await serveMetrics("127.0.0.1", 0);
  const port = Number(endpoint.address.split(":").at(-1));
  const get = async (path: string): Promise<number> => (await fetch(`http://${endpoint.address}${path}`)).status;
  expect(await Promise.all(["/metrics", "/metrics?x=1", "/"].map(get))).toEqual([200, 200, 404]);
  await expect(serveMetrics("127.0.0.1", port)).rejects.toMatchObject({
    code: "PORT_IN_USE",
    message: expect.stringContaining(`Port ${port} for metrics`),
  });
  await expect(serveMetrics("192.0.2.1", 0)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  await endpoint.close();
  await expect(get("/metrics")).rejects.toThrow("fetch failed");
});

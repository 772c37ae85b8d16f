/** Process that checks the health of a server every 20 ms and, at the end, sends the milliseconds of each check to its parent. */
import { setTimeout as sleep } from "node:timers/promises";
import { Client, credentials } from "@grpc/grpc-js";
import { HEALTH_SERVICE } from "@mrlm/wire";

const client = new Client(`127.0.0.1:${process.argv[2]}`, credentials.createInsecure());
const { path, requestSerialize, responseDeserialize } = HEALTH_SERVICE.check;
const over = new AbortController();
process.on("message", () => over.abort());

const milliseconds: number[] = [];
while (!over.signal.aborted) {
  const started = performance.now();
  await new Promise<void>((resolve, reject) =>
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service: "" }, (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
  milliseconds.push(performance.now() - started);
  await sleep(20);
}
process.send?.(milliseconds);
client.close();
process.disconnect();

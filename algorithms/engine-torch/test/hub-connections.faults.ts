import { afterAll, beforeAll, describe, test } from "@jest/globals";
import { locateEngine } from "../src/setup/locate-engine.ts";
import { breakOff, type Hub, type HubCall, sendContent, sendJson, startHub } from "./support/hub.ts";
import { always, DAMAGED, forContent, HubPlaces, NETWORK, ofFiles, once, SHARDS } from "./support/hub-cases.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const root = temporaryDirectory();
const installed = await locateEngine();
const describeIf = (condition: boolean) => (condition ? describe : describe.skip);

let hub: Hub;
let places: HubPlaces;
beforeAll(async () => {
  hub = await startHub();
  places = new HubPlaces(hub, root, installed?.executable);
});
afterAll(() => hub.close());

describeIf(installed !== undefined)("a hub whose connections fail", () => {
  test("45 cases: a connection that ends too early", async () => {
    await places.playAll(45, [
      ...ofFiles("breaks off once at half", (file) => ({
        answer: forContent(file, once, (call) => breakOff(call, call.content.length >> 1)),
      })),
      ...ofFiles("breaks off once before the first byte", (file) => ({
        answer: forContent(file, once, (call) => breakOff(call, 0)),
      })),
      ...ofFiles("breaks off once before the last byte", (file) => ({
        answer: forContent(file, once, (call) => breakOff(call, call.content.length - 1)),
      })),
      ...ofFiles("breaks off three times, and continues where it was", (file) => ({
        answer: forContent(
          file,
          (attempt) => attempt < 3,
          (call) => breakOff(call, call.content.length >> 2),
        ),
      })),
      ...ofFiles("breaks off twice, and begins anew", (file) => ({
        answer: forContent(
          file,
          (attempt) => attempt < 2,
          (call) => breakOff(call, call.content.length >> 1, false),
        ),
      })),
      ...ofFiles(
        "always breaks off, and begins anew",
        (file) => ({
          answer: forContent(file, always, (call) => breakOff(call, call.content.length >> 1, false)),
        }),
        NETWORK,
      ),
      ...ofFiles(
        "always breaks off before the first byte",
        (file) => ({ answer: forContent(file, always, (call) => breakOff(call, 0)) }),
        NETWORK,
      ),
      ...ofFiles("resets the connection once", (file) => ({
        answer: forContent(file, once, ({ request }) => request.socket.resetAndDestroy()),
      })),
      ...ofFiles(
        "ends the answer early without a fault of the connection, always",
        (file) => ({
          answer: forContent(file, always, ({ response, content }) => {
            response.writeHead(200, { "Transfer-Encoding": "chunked" });
            response.end(content.subarray(0, content.length >> 1));
          }),
        }),
        DAMAGED,
      ),
    ]);
  }, 900_000);

  test("30 cases: a hub that is slow, or does not answer", async () => {
    const slowly = ({ response, content }: HubCall): void => {
      response.writeHead(200, { "Content-Length": String(content.length) });
      let sent = 0;
      const step = Math.ceil(content.length / 12);
      const timer = setInterval(() => {
        response.write(content.subarray(sent, (sent += step)));
        if (sent < content.length) return;
        clearInterval(timer);
        response.end();
      }, 100);
    };
    const stall = (call: HubCall): void => {
      call.response.writeHead(200, { "Content-Length": String(call.content.length) });
      call.response.write(call.content.subarray(0, 1000));
    };
    await places.playAll(30, [
      ...ofFiles("throttles", (file) => ({ answer: forContent(file, always, slowly) })),
      ...ofFiles("stalls once in the middle", (file) => ({ answer: forContent(file, once, stall) })),
      ...ofFiles("does not answer the first request for the content", (file) => ({
        answer: forContent(file, once, () => undefined),
      })),
      ...ofFiles(
        "never answers requests for the content",
        (file) => ({ answer: forContent(file, always, () => undefined) }),
        NETWORK,
      ),
      ...ofFiles("does not answer the first question about the file", (file) => ({
        answer: ({ step, file: asked, attempt }) => step === "head" && asked === file && attempt === 0,
      })),
      ...ofFiles("sends headers late", (file) => ({
        answer: forContent(file, always, (call) => void setTimeout(() => sendContent(call), 800)),
      })),
    ]);
  }, 900_000);

  test("20 cases: redirects", async () => {
    const to =
      (location: (call: HubCall) => string, status = 302) =>
      (file: string) => ({
        answer: (call: HubCall): boolean => {
          if (call.step !== "cdn" || call.file !== file || call.request.url?.includes("&seen") === true) return false;
          call.response.writeHead(status, { Location: location(call), "Content-Length": "0" }).end();
          return true;
        },
      });
    const large = ["model.safetensors", ...SHARDS];
    await places.playAll(20, [
      ...ofFiles(
        "redirects once more",
        to(({ request }) => `${request.url}?a=1&seen`),
        undefined,
        large,
      ),
      ...ofFiles(
        "redirects to another host",
        to(({ request }) => `${hub.cdn.replace("127.0.0.1", "localhost")}${request.url}?a=1&seen`),
        undefined,
        large,
      ),
      ...ofFiles(
        "redirects permanently",
        to(({ request }) => `${request.url}?a=1&seen`, 301),
        undefined,
        large,
      ),
      ...ofFiles(
        "redirects in a circle",
        to(({ request }) => request.url as string),
        NETWORK,
        large,
      ),
      ...ofFiles(
        "redirects to a port where nothing listens",
        to(() => "http://127.0.0.1:9/x"),
        NETWORK,
        large,
      ),
      ...ofFiles(
        "redirects to a page of text",
        (file) => ({
          answer: forContent(file, always, ({ response }) => sendJson(response, "<html>Please sign in</html>")),
        }),
        DAMAGED,
      ),
    ]);
  }, 900_000);
});

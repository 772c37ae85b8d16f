/** Clients of the dialects over HTTP. Each session sends one request at a time. */
import { randomUUID } from "node:crypto";
import { type OpenSessions, TEXT } from "../server/systems.ts";
import { HttpClient } from "./http-client.ts";

/** Sessions of ORS, whose steps are calls of `submit`. */
export async function openOrs(port: number, count: number): Promise<OpenSessions> {
  const client = new HttpClient(port, count);
  const sessions = Array.from({ length: count }, () => ({ "x-session-id": randomUUID() }));
  await Promise.all(sessions.map((session) => client.post("/create", { split: "train", index: 0 }, session)));
  const call = { name: "submit", input: { text: TEXT } };
  return {
    steps: sessions.map((session) => async () => {
      const answer = await client.post("/call", call, session);
      if (!answer.includes("event: end")) throw new Error(`/call answered ${answer}`);
    }),
    async close() {
      await Promise.all(sessions.map((session) => client.post("/delete", {}, session)));
      client.close();
    },
  };
}

/** Clients of `/run_code`, whose steps are programs in Python. */
export async function openRunCode(port: number, count: number): Promise<OpenSessions> {
  const client = new HttpClient(port, count);
  const program = { language: "python", code: "print(int(input()) ** 2)", stdin: "7\n" };
  const step = async (): Promise<void> => {
    const answer = await client.post("/run_code", program);
    const { run_result: result } = JSON.parse(answer) as { readonly run_result: { readonly stdout: string } | null };
    if (result?.stdout !== "49\n") throw new Error(`/run_code answered ${answer}`);
  };
  return { steps: Array.from({ length: count }, () => step), close: async () => client.close() };
}

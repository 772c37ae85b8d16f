import { afterEach, expect, test } from "@jest/globals";
import { raw } from "./support/raw.ts";
import { type Served, served } from "./support/served.ts";

let server: Served;

afterEach(() => server.close());

const url = (path: string): URL => server.url(path);
const detail = (part: string) => ({ detail: expect.stringContaining(part) });

test("the catalogue lists environments, splits and tasks; a port with several takes the name from the path or X-Deployment", async () => {
  server = await served({ dialects: ["ors"] });
  const get = async (path: string, headers = {}) => (await raw(url(path), { headers })).body;
  const ask = async (path: string, body: object, headers = {}) => {
    const response = await raw(url(path), { body, headers });
    return response.status === 200 ? response.body : [response.status, response.body];
  };
  expect(await get("/health")).toEqual({ status: "healthy" });
  expect(await get("/list_environments")).toEqual(expect.arrayContaining(["sums@1", "plain@1"]));
  expect(await get("/sums/splits")).toEqual([
    { name: "train", type: "train" },
    { name: "eval", type: "validation" },
  ]);
  const headers = { "x-deployment": "sums" };
  expect(await ask("/num_tasks", { split: "eval" }, headers)).toEqual({ num_tasks: 10 });
  const task = (index: number) => ({ id: `eval/${index}`, split: "eval", index });
  expect(await ask("/sums@1/task", { split: "eval", index: 3 })).toEqual({ task: task(3), env_name: "sums@1" });
  for (const [range, indices] of [
    [{}, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    [{ start: 8, stop: 99 }, [8, 9]],
    [{ start: -2 }, [8, 9]],
    [{ start: 1, stop: -7 }, [1, 2]],
    [{ start: 5, stop: 5 }, []],
  ] as const)
    expect(await ask("/sums@1/task_range", { split: "eval", ...range })).toEqual({
      tasks: indices.map(task),
      env_name: "sums@1",
    });
  expect(await ask("/plain@1/tasks", { split: "train" })).toEqual({
    tasks: [{ split: "train", index: 0 }],
    env_name: "plain@1",
  });
  expect(await ask("/sums@1/task", { split: "eval", index: 10 })).toMatchObject([400, detail("TASK_NOT_FOUND")]);
  expect(await ask("/sums@1/num_tasks", { split: "toString" })).toMatchObject([400, detail("TASK_NOT_FOUND")]);
  expect(await ask("/sums@1/tasks", { split: "eval", more: 1 })).toMatchObject([422, detail("more")]);
  expect(await ask("/num_tasks", { split: "eval" })).toMatchObject([404, detail("ENVIRONMENT_NOT_FOUND")]);
  expect(await ask("/summs/num_tasks", { split: "eval" })).toMatchObject([404, detail("Did you mean")]);
  const { paths } = (await get("/openapi.json")) as unknown as { paths: Record<string, object> };
  expect(paths).toMatchObject({ "/call": { post: {} }, "/task": { post: {} }, "/health": { get: {} } });
});

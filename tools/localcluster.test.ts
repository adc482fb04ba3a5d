import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Node, Pod } from "@memhog/runtime";
import { eventually } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { clientOf, commandLine } from "./localcluster.fixture.ts";
import { top } from "./process.ts";

const pod = {
  metadata: { namespace: "default", name: "web" },
  spec: { containers: [{ name: "web", image: "example.com/web" }] },
};

it("a simulated cluster starts, runs pods, is scraped and listed, and stops without leaving anything behind", async () => {
  await using shell = await commandLine();
  const kubeconfig = join(shell.home, "kubeconfig");
  const flags = ["--simulated", "--nodes", "simulated=2", "--prometheus=1s", "--kubeconfig", kubeconfig, "--output", "json"];
  const started = await shell.run("up", ...flags);
  expect(started).toMatchObject({ code: 0 });
  const { prometheus, kubernetes } = JSON.parse(started.out) as { prometheus: string; kubernetes: string };
  expect(kubernetes).toBe("1.37.1");

  await using client = await clientOf(kubeconfig);
  expect((await client.list(Node)).items.map(({ metadata }) => metadata.name)).toEqual(["node-1", "node-2"]);
  await client.create(Pod, pod);
  await eventually(
    () => client.get(Pod, pod.metadata),
    ({ status }) => status?.phase === "Running",
  );
  const query = new URLSearchParams({ query: 'container_memory_usage_bytes{pod="web",container="web"}' });
  const samples = async () => {
    const answer = (await (await fetch(`${prometheus}/api/v1/query?${query}`)).json()) as { data: { result: unknown[] } };
    return answer.data.result.length;
  };
  await eventually(samples, (count) => count === 1);

  const status = await shell.run("status");
  expect(status.out).toMatch(/^default +running +1\.37\.1 \(simulated\) +simulated=2 +https:\/\/127\.0\.0\.1:\d+ +none \(up\)$/m);
  expect(await shell.run("down")).toMatchObject({ code: 0, out: "removed default\n" });
  expect(existsSync(kubeconfig)).toBe(false);
  await expect(fetch(`${prometheus}/api/v1/query?query=up`)).rejects.toThrow();
  expect(JSON.parse((await shell.run("status", "--output", "json")).out)).toEqual([]);
});

it.each(["gordon", "memcached"])("the README of %s names the kubeconfig that its `up` command writes", async (operator) => {
  const readme = await readFile(join(top, "operators", operator, "README.md"), "utf8");
  const commandsOf = (script: string) =>
    [...readme.matchAll(new RegExp(`^npm run ${script} -- (.*?)(?: +#.*)?$`, "gm"))].map(([, words = ""]) => words.split(/ +/));
  const [up = []] = commandsOf("localcluster");
  const [start = []] = commandsOf(operator);
  const written = up[up.indexOf("--kubeconfig") + 1] ?? "";
  expect(start[start.indexOf("--kubeconfig") + 1]).toBe(written);

  await using shell = await commandLine();
  const kubeconfig = join(shell.home, written);
  expect(await shell.run(...up.map((word) => (word === written ? kubeconfig : word)))).toMatchObject({ code: 0 });
  await using client = await clientOf(kubeconfig);
  expect((await client.list(Node)).items).toHaveLength(1); // pods need a node to run on
});

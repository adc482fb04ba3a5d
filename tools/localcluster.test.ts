import { existsSync } from "node:fs";
import { join } from "node:path";
import { Node, Pod } from "@memhog/runtime";
import { eventually } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { clientOf, commandLine } from "./localcluster.fixture.ts";

const pod = {
  metadata: { namespace: "default", name: "web" },
  spec: { containers: [{ name: "web", image: "example.com/web" }] },
};

it("a simulated cluster goes up, runs pods, is scraped and listed, and goes down without a trace", async () => {
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
  expect(status.out).toMatch(
    /^default +running +1\.37\.1 \(simulated\) +simulated=2 +https:\/\/127\.0\.0\.1:\d+ +nobody \(up\)$/m,
  );
  expect(await shell.run("down")).toMatchObject({ code: 0, out: "default is gone\n" });
  expect(existsSync(kubeconfig)).toBe(false);
  await expect(fetch(`${prometheus}/api/v1/query?query=up`)).rejects.toThrow();
  expect(JSON.parse((await shell.run("status", "--output", "json")).out)).toEqual([]);
});

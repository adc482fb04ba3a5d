import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { testCluster } from "../testing.ts";
import { loadBusybox, pod, running } from "./pods.fixture.ts";

beforeAll(loadBusybox);

describe("the network of a sandbox (real Kubernetes: packets are real)", () => {
  it("has no route out: connections of a pod fail at once", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    await running(cluster, pod("prisoner"));
    // 192.0.2.0/24 is for documentation; nobody is there even if a packet got out.
    const attempt = cluster.kubectl("exec", "prisoner", "--", "wget", "-q", "-O", "-", "http://192.0.2.1/");
    await expect(attempt).rejects.toMatchObject({ message: expect.stringContaining("Network is unreachable") });
    await running(cluster, pod("on-the-node", {}, { hostNetwork: true }));
    const routes = await cluster.kubectl("exec", "on-the-node", "--", "ip", "route");
    expect(routes).toContain("10.96.0.0/16 dev node0");
    expect(routes).not.toContain("default");
  });

  it("reaches a server on this machine that a test exposes", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    const server = createServer((question, answer) => answer.end(`you asked for ${question.url}`)).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const { address, port } = await cluster.expose((server.address() as AddressInfo).port);
      await running(cluster, pod("caller"));
      const answer = await cluster.kubectl(
        "exec",
        "caller",
        "--",
        "wget",
        "-q",
        "-O",
        "-",
        `http://${address}:${port}/something`,
      );
      expect(answer).toBe("you asked for /something");
    } finally {
      server.close();
    }
  });
});

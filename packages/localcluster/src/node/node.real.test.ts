// What only a real node can show: containers that run, find each other, and die of their limits.
import { beforeAll, describe, expect, it } from "vitest";
import { testCluster } from "../testing.ts";
import { loadBusybox, memory, pod, running, statusOf } from "./pods.fixture.ts";

beforeAll(loadBusybox);

describe("pods on a real node (real Kubernetes: containers run)", () => {
  it("runs a Deployment, and a third pod reaches both of its pods through a Service", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    const serve = "mkdir /www; hostname >/www/index.html; exec httpd -f -p 8080 -h /www";
    const readinessProbe = { httpGet: { port: 8080, path: "/" }, periodSeconds: 1 };
    const { metadata, spec } = pod("web", { command: ["sh", "-c", serve], readinessProbe });
    const template = { metadata: { labels: metadata.labels }, spec };
    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: { replicas: 2, selector: { matchLabels: { app: "web" } }, template },
    };
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
    };
    const [, applied] = await cluster.apply(deployment, service);
    await running(cluster, pod("client"));
    await cluster.eventually(
      () => cluster.get(deployment),
      (found) => found?.status.readyReplicas === 2,
    );
    const seen = new Set<string>();
    await cluster.eventually(
      async () =>
        seen.add(await cluster.kubectl("exec", "client", "--", "wget", "-q", "-O", "-", `http://${applied?.spec.clusterIP}/`)),
      ({ size }) => size === 2,
    );
    expect([...seen].every((name) => name.startsWith("web-"))).toBe(true);
  });

  it("OOM-kills a container that exceeds its limit, and reports it in the status", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    // tail keeps the last line, and /dev/zero has only one: it asks for memory until the kernel has had enough.
    await cluster.apply(pod("eater", { command: ["tail", "/dev/zero"], ...memory("16Mi") }, { restartPolicy: "Never" }));
    const dead = await cluster.eventually(
      () => cluster.pod("eater"),
      (found) => found?.status.phase === "Failed",
    );
    expect(statusOf(dead).state.terminated).toMatchObject({ reason: "OOMKilled", exitCode: 137 });
  });

  it("restarts an OOM-killed container and reports the reason in lastState", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    await cluster.apply(pod("eater", { command: ["tail", "/dev/zero"], ...memory("16Mi") }));
    const again = await cluster.eventually(
      () => cluster.pod("eater"),
      (found) => statusOf(found)?.restartCount > 0,
    );
    expect(statusOf(again).lastState.terminated).toMatchObject({ reason: "OOMKilled", exitCode: 137 });
  });

  it("shows logs and runs commands in containers", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    await running(cluster, pod("talker", { command: ["sh", "-c", "echo hello from the inside; exec sleep 100000"] }));
    await cluster.eventually(
      () => cluster.kubectl("logs", "talker"),
      (log) => log === "hello from the inside\n",
    );
    expect(await cluster.kubectl("exec", "talker", "--", "sh", "-c", "echo $((6 * 7))")).toBe("42\n");
    await expect(cluster.kubectl("exec", "talker", "--", "false")).rejects.toMatchObject({ code: "KUBECTL" });
  });
});

// The real kubectl against the simulator. Needs the kubectl binary of the real Kubernetes build.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { testCluster as realCluster } from "@memhog/localcluster/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCluster } from "../src/testing/simulated-cluster.ts";
import type { Cluster } from "../src/testing.ts";
import { definition } from "./definitions.ts";
import { deployment } from "./kinds.ts";

const run = promisify(execFile);
let simulated: Cluster;
let program: string;

beforeAll(async () => {
  await using real = await realCluster();
  program = await real.kubectlPath();
  simulated = await openCluster();
  await simulated.apply(widgets);
});
afterAll(() => simulated?.[Symbol.asyncDispose]());

const spec = {
  type: "object",
  description: "Desired state.",
  properties: { size: { type: "integer", description: "How large it is." } },
};
const { crd } = definition("kubectl.memhog.test", { spec }, {}, { shortNames: ["wd"] });
const widgets = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", ...crd };

async function kubectl(args: readonly string[], stdin?: object): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: simulated.kubeconfig.replace(/\/[^/]+$/, "") };
  const child = run(program, [`--kubeconfig=${simulated.kubeconfig}`, `--namespace=${simulated.defaultNamespace}`, ...args], {
    env,
  });
  child.child.stdin?.end(stdin === undefined ? "" : JSON.stringify(stdin));
  return (await child).stdout;
}

const map = (data: object) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data });
const web = (replicas: number) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  ...deployment({ metadata: { name: "web" }, spec: { replicas } }),
});

describe("kubectl against the simulator", () => {
  it("apply creates, changes and leaves unchanged", async () => {
    expect(await kubectl(["apply", "-f", "-"], map({ a: "1" }))).toBe("configmap/a created\n");
    expect(await kubectl(["apply", "-f", "-"], map({ a: "2" }))).toBe("configmap/a configured\n");
    expect(await kubectl(["apply", "-f", "-"], map({ a: "2" }))).toBe("configmap/a unchanged\n");
  });

  it("apply --server-side applies and detects conflicts", async () => {
    const apply = (data: object, ...more: readonly string[]) =>
      kubectl(["apply", "--server-side", "-f", "-", ...more], { ...map(data), metadata: { name: "b" } });
    expect(await apply({ a: "1" }, "--field-manager=one")).toBe("configmap/b serverside-applied\n");
    await expect(apply({ a: "2" }, "--field-manager=two")).rejects.toThrow(/conflict with "one": \.data\.a/);
  });

  it("get prints tables, names, YAML and JSONPath", async () => {
    await kubectl(["apply", "-f", "-"], web(0));
    const [head, row] = (await kubectl(["get", "deployment", "web"])).split("\n").map((line) => line.split(/\s+/));
    expect(head).toEqual(["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]);
    expect(row?.slice(0, 4)).toEqual(["web", "0/0", "0", "0"]);
    expect(await kubectl(["get", "deploy", "-o", "name"])).toBe("deployment.apps/web\n");
    expect(await kubectl(["get", "deploy/web", "-o", "yaml"])).toContain("kind: Deployment");
    expect(await kubectl(["get", "deploy/web", "-o", "jsonpath={.spec.replicas}"])).toBe("0");
    expect(await kubectl(["get", "all", "-o", "name"])).toContain("deployment.apps/web");
  });

  it("describe prints an object", async () => {
    await kubectl(["apply", "-f", "-"], web(0));
    expect(await kubectl(["describe", "deployment", "web"])).toMatch(/^Name: +web\n/);
  });

  it("patch, label, annotate and scale change an object", async () => {
    await kubectl(["apply", "-f", "-"], web(0));
    await kubectl(["patch", "deployment", "web", "-p", '{"spec":{"paused":true}}']);
    await kubectl(["patch", "deployment", "web", "--type=merge", "-p", '{"spec":{"minReadySeconds":1}}']);
    await kubectl(["label", "deployment", "web", "a=b"]);
    await kubectl(["annotate", "deployment", "web", "c=d"]);
    await kubectl(["scale", "deployment", "web", "--replicas=2"]);
    expect(await simulated.get({ ...web(0), metadata: { name: "web" } })).toMatchObject({
      metadata: { labels: { a: "b" }, annotations: { c: "d" } },
      spec: { paused: true, minReadySeconds: 1, replicas: 2 },
    });
  });

  it("rollout status waits for a finished rollout", async () => {
    const none = { ...web(0), metadata: { name: "none" } };
    await kubectl(["apply", "-f", "-"], none);
    expect(await kubectl(["rollout", "status", "deployment/none"])).toContain('deployment "none" successfully rolled out');
  });

  it("wait waits for a condition", async () => {
    await kubectl(["apply", "-f", "-"], { ...web(0), metadata: { name: "waited" } });
    expect(await kubectl(["wait", "deployment/waited", "--for=condition=Available"])).toContain("condition met");
  });

  it("explain describes custom resources", async () => {
    expect(await kubectl(["explain", "widget.spec.size"])).toContain("How large it is.");
  });

  it("delete deletes dependents or orphans them", async () => {
    await kubectl(["apply", "-f", "-"], { ...web(1), metadata: { name: "gone" } });
    const owned = async () => (await kubectl(["get", "rs", "-o", "name"])).includes("/gone-");
    await simulated.eventually(owned, (there) => there);
    expect(await kubectl(["delete", "deployment", "gone", "--cascade=foreground"])).toContain('"gone" deleted');
    await simulated.eventually(owned, (there) => !there);
    await kubectl(["apply", "-f", "-"], { ...web(1), metadata: { name: "left" } });
    const orphan = async () => (await kubectl(["get", "rs", "-o", "name"])).includes("/left-");
    await simulated.eventually(orphan, (there) => there);
    await kubectl(["delete", "deployment", "left", "--cascade=orphan"]);
    expect(await orphan()).toBe(true);
  });

  it("api-resources lists custom resources", async () => {
    expect(await kubectl(["api-resources", "--api-group=kubectl.memhog.test"])).toMatch(
      /widgets +wd +kubectl\.memhog\.test\/v1 +true +Widget/,
    );
  });
});

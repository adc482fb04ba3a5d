import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadBuilt, pod } from "../node/pods.fixture.ts";
import { testCluster } from "../testing.ts";
import { nodeImage } from "./programs.ts";

describe("a Node program in an image (real Kubernetes: containerd runs it)", () => {
  const program = `
    import { readFileSync } from "node:fs";
    import { get } from "node:https";
    const account = "/var/run/secrets/kubernetes.io/serviceaccount/";
    const read = (file: string): string => readFileSync(account + file, "utf8");
    get({
      host: process.env.KUBERNETES_SERVICE_HOST,
      port: process.env.KUBERNETES_SERVICE_PORT,
      path: "/api/v1/namespaces/" + read("namespace") + "/configmaps/greeting",
      ca: read("ca.crt"),
      headers: { authorization: "Bearer " + read("token") },
    }, async (answer) => {
      const text = Buffer.concat(await Array.fromAsync(answer)).toString();
      console.log(JSON.stringify({ uid: process.getuid?.(), status: answer.statusCode, says: JSON.parse(text).data?.hello }));
    });`;
  const rights = [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "reader" } },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "reader" },
      rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["greeting"], verbs: ["get"] }],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "reader" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
      subjects: [{ kind: "ServiceAccount", name: "reader" }],
    },
  ];
  const restricted = {
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
    seccompProfile: { type: "RuntimeDefault" },
  };

  it("reads the API through its Service with its service account, as a non-root user", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    const folder = await mkdtemp(join(tmpdir(), "app-"));
    await writeFile(join(folder, "main.ts"), program);
    await loadBuilt(cluster, (output) =>
      nodeImage({ name: "localcluster/reader:test", folder, entrypoint: ["main.ts"], output }),
    );
    await rm(folder, { recursive: true });
    await cluster.apply(
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "greeting" }, data: { hello: "world" } },
      ...rights,
    );
    const container = { image: "localcluster/reader:test", command: undefined, securityContext: restricted };
    await cluster.apply(pod("reader", container, { serviceAccountName: "reader", restartPolicy: "Never" }));
    await cluster.eventually(
      () => cluster.pod("reader"),
      (found) => found?.status.phase === "Succeeded",
    );
    expect(JSON.parse(await cluster.kubectl("logs", "reader"))).toEqual({ uid: 65532, status: 200, says: "world" });
  });
});

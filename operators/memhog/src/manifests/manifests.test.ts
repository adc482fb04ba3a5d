import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkManifests, unbounded, undescribed } from "@memhog/kit";
import { expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { alertGroups } from "./alerts.ts";
import { components, manifests } from "./manifests.ts";
import { deploy, generatedFiles } from "./write.ts";

it("the generated files of deploy/, Helm chart included, are up to date (node operators/memhog/src/manifests/write.ts)", async () =>
  expect(await checkManifests(deploy, generatedFiles())).toEqual([]));

it("every CRD field has a description and bounds", () =>
  expect([AppMonitor, AppMemory].flatMap((kind) => [undescribed(kind), unbounded(kind)])).toEqual([[], [], [], []]));

it("the chart has the version of the operator", async () => {
  const read = (path: string) => readFile(join(import.meta.dirname, path), "utf8");
  const chart = await read("../../deploy/helm/memhog-operator/Chart.yaml");
  const { version } = JSON.parse(await read("../../package.json"));
  expect([...chart.matchAll(/^(?:v|appV)ersion: (.*)$/gm)].map(([, found]) => found)).toEqual([version, version]);
});

it("alerts use existing metrics", async () => {
  const asked = JSON.stringify(alertGroups).match(/\b(memhog|leader)_[a-z_]+/g) ?? [];
  const ours = await readFile(join(import.meta.dirname, "../report/metrics.ts"), "utf8");
  expect(asked.filter((name) => !ours.includes(`"${name}"`) && name !== "leader_election_master_status")).toEqual([]);
  expect(asked).toContain("memhog_oom_kills_total");
});

it("S1: no wildcard, no Secrets, no exec, and nothing outside the namespace", () => {
  const text = JSON.stringify(manifests()["operator/rbac.yaml"]);
  expect(text).not.toMatch(/"\*"|secrets|pods\/exec|pods\/attach|serviceaccounts\/token|ClusterRole|impersonate|escalate|bind"/);
  expect(JSON.stringify(manifests()["cluster-wide/rbac.yaml"])).not.toMatch(/"\*"|secrets|pods\/exec|pods\/attach/);
});

it("S1: only the variant with webhooks has a Secret, that of their certificate", () => {
  const text = JSON.stringify(manifests()["with-webhooks/rbac.yaml"]);
  expect(text).toContain(
    '"resources":["secrets"],"resourceNames":["memhog-operator-webhook-certificates"],"verbs":["get","update"]',
  );
  expect(text).not.toMatch(/"\*"|pods\/exec|pods\/attach/);
});

it.each(["operator-in-place", "cluster-wide-in-place"])("S1: %s can only resize pods in place", (variant) => {
  const [roles, full] = [variant, variant.replace("-in-place", "")].map((name) =>
    JSON.stringify(manifests()[`${name}/rbac.yaml`]),
  );
  const redeploys =
    /"pods"\],"verbs":\[[^\]]*"(create|delete)"|pods\/eviction|"(deployments|statefulsets)"[^\]]*\],"verbs":\[[^\]]*"patch"/;
  expect(full).toMatch(redeploys);
  expect(roles).not.toMatch(redeploys);
  expect(roles).toContain("pods/resize");
  expect(JSON.stringify(manifests()[`${variant}/deployment.yaml`])).toContain("--in-place-only");
});

it("people with Kubernetes' own roles may view and edit memhog's objects, but not write an AppMemory", () => {
  const [view, edit] = components["aggregated-roles"];
  expect(view?.metadata?.labels).toMatchObject({ "rbac.authorization.k8s.io/aggregate-to-view": "true" });
  expect(view?.rules).toEqual([
    { apiGroups: ["kubedemo.com"], resources: ["appmonitors", "appmemories"], verbs: ["get", "list", "watch"] },
  ]);
  expect(edit?.metadata?.labels).not.toHaveProperty(["rbac.authorization.k8s.io/aggregate-to-view"]);
  expect(edit?.rules).toContainEqual({
    ...{ apiGroups: ["kubedemo.com"], resources: ["appmemories"] },
    verbs: ["delete", "deletecollection"],
  });
  expect(manifests()["cluster-wide/objects.yaml"]).toEqual([view, edit]);
});

it.each(["operator", "operator-in-place", "cluster-wide", "cluster-wide-in-place", "with-webhooks"])(
  "S2: pods of %s are hardened and have requests and limits",
  (variant) => {
    const [deployment] = manifests()[`${variant}/deployment.yaml`] as readonly object[];
    expect(deployment).toMatchObject({
      spec: {
        replicas: 2,
        template: {
          spec: {
            securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
            containers: [
              {
                resources: {
                  requests: { memory: expect.any(String), cpu: expect.any(String) },
                  limits: { memory: expect.any(String) },
                },
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ["ALL"] },
                },
              },
            ],
          },
        },
      },
    });
  },
);

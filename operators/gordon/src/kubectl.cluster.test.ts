// What people see of gordons through kubectl.
import { join } from "node:path";
import { expect, it } from "vitest";
import { namesOf, stage } from "./stage.fixture.ts";

it("get, describe, explain, scale and wait are useful", async () => {
  await using on = await stage();
  const { cluster } = on;
  await on.start();
  await on.ask("gordoncluster", 2);
  await on.settled("gordoncluster", 2);
  for (const pod of namesOf("gordoncluster", 2)) await on.say(pod, "Running");
  await cluster.kubectl("wait", "gn/gordoncluster", "--for=condition=Ready", "--timeout=60s");
  const [head, row] = (await cluster.kubectl("get", "gn")).split("\n");
  expect(head?.split(/ {2,}/)).toEqual(["NAME", "DESIRED", "READY", "STATUS", "AGE"]);
  expect(row).toMatch(/^gordoncluster +2 +2 +AllPodsReady +\d+s$/);
  expect(await cluster.kubectl("describe", "gn", "gordoncluster")).toMatch(
    /Pods:\n +gordon-gordoncluster-0\n +gordon-gordoncluster-1/,
  );
  expect(await cluster.kubectl("explain", "gordon.spec.gordon.replicas")).toContain("How many gordons to keep running.");
  await cluster.kubectl("scale", "gn/gordoncluster", "--replicas=3");
  await on.settled("gordoncluster", 3);
  expect(await cluster.kubectl("get", "gn", "gordoncluster", "-o", "jsonpath={.status.selector}")).toBe(
    "app.kubernetes.io/name=gordon,app.kubernetes.io/instance=gordoncluster",
  );
});

it.each([
  { spec: { gordon: { replicas: -1 } }, says: "spec.gordon.replicas" },
  { spec: { gordon: { replicas: 1.5 } }, says: "must be of type integer" },
  { spec: { gordon: {} }, says: "spec.gordon.replicas: Required value" },
  { spec: {}, says: "spec.gordon: Required value" },
  { spec: { gordon: { replicas: 2000 } }, says: "should be less than or equal to 1000" },
])("the API server refuses $spec and says why", async ({ spec, says }) => {
  await using on = await stage();
  const object = { apiVersion: "operator.prgcont.cz/v1", kind: "Gordon", metadata: { name: "bad" }, spec };
  await expect(on.cluster.apply(object)).rejects.toThrow(says);
});

it("a name that does not fit into a label is refused", async () => {
  await using on = await stage();
  await expect(on.ask("a".repeat(64), 1)).rejects.toThrow("at most 63 characters");
});

it("the API server accepts every folder of deploy/ with kubectl apply -k, and the samples", async () => {
  await using on = await stage();
  const deploy = join(import.meta.dirname, "../deploy");
  const dryRun = ["apply", "--dry-run=server", "--namespace=default"];
  for (const folder of ["", "crd", "operator", "cluster-wide"]) await on.cluster.kubectl(...dryRun, "-k", join(deploy, folder));
  await on.cluster.kubectl(...dryRun, "-f", join(deploy, "samples"));
});

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Pod } from "../objects/kinds/pod.ts";
import { Deployment } from "../objects/kinds/workloads.ts";
import { allow, type Grant } from "../schema/permissions.ts";
import { auditOf } from "./audit.ts";
import { temporaryFolder } from "./loopback.ts";

const user = "system:serviceaccount:home:gordon";
const pods = { resource: "pods" };

/** One event of the audit log. */
const did = (verb: string, objectRef: object | undefined, { code = 200, username = user } = {}) => ({
  ...{ verb, user: { username }, responseStatus: { code } },
  ...(objectRef && { objectRef }),
});

const cases = [
  { name: "a permission that was used is not reported", log: [did("list", pods)], grants: [allow(Pod, "list")], unused: [] },
  {
    name: "a permission that was never used is reported",
    log: [did("list", pods)],
    grants: [allow(Pod, "list", "get")],
    unused: ["get pods"],
  },
  {
    name: "the same resource in another API group does not count",
    log: [did("list", { resource: "deployments", apiGroup: "extensions" })],
    grants: [allow(Deployment, "list")],
    unused: ["list deployments of apps"],
  },
  {
    name: "a subresource does not count as its resource",
    log: [did("patch", { ...pods, subresource: "resize" })],
    grants: [allow(Pod, "patch"), allow(Pod, "patch", { subresource: "resize" })],
    unused: ["patch pods"],
  },
  {
    name: "an apply that creates uses patch and create",
    log: [did("patch", pods, { code: 201 })],
    grants: [allow(Pod, "patch", "create")],
    unused: [],
  },
  {
    name: "an apply that updates uses patch only",
    log: [did("patch", pods)],
    grants: [allow(Pod, "patch", "create")],
    unused: ["create pods"],
  },
  {
    name: "requests of other users do not count",
    log: [did("list", pods, { username: `${user}-2` }), did("get", undefined)],
    grants: [allow(Pod, "list")],
    unused: ["list pods"],
  },
];

it.each(cases)("$name", async ({ log, grants, unused }) => {
  expect(await audited(log, grants)).toEqual({ unused, refused: [] });
});

it("a rejected request is reported", async () => {
  const log = [did("delete", pods, { code: 403 }), did("list", pods)];
  expect((await audited(log, [])).refused).toEqual(["delete pods"]);
});

async function audited(log: readonly object[], grants: readonly Grant[]) {
  await using folder = await temporaryFolder();
  const auditLog = join(folder.path, "audit.log");
  const half = JSON.stringify(did("get", pods)).slice(0, 60); // a line that is still being written
  await writeFile(auditLog, [...log.map((line) => JSON.stringify(line)), half].join("\n"));
  return await auditOf({ auditLog, user, grants });
}

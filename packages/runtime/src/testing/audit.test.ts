import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Deployment } from "../objects/kinds/apps.ts";
import { Pod } from "../objects/kinds/core/pod.ts";
import { type Grant, may } from "../schema/access.ts";
import { auditOf } from "./audit.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const user = "system:serviceaccount:home:gordon";
const pods = { resource: "pods" };

/** One line of the log. */
const did = (verb: string, objectRef: object | undefined, { code = 200, username = user } = {}) => ({
  ...{ verb, user: { username }, responseStatus: { code } },
  ...(objectRef && { objectRef }),
});

const cases = [
  { name: "what was done was used", log: [did("list", pods)], grants: [may(Pod, "list")], unused: [] },
  { name: "what was never done was not", log: [did("list", pods)], grants: [may(Pod, "list", "get")], unused: ["get pods"] },
  {
    name: "another group is another resource",
    log: [did("list", { resource: "deployments", apiGroup: "extensions" })],
    grants: [may(Deployment, "list")],
    unused: ["list deployments of apps"],
  },
  {
    name: "a subresource is another door",
    log: [did("patch", { ...pods, subresource: "resize" })],
    grants: [may(Pod, "patch"), may(Pod, "patch", { subresource: "resize" })],
    unused: ["patch pods"],
  },
  {
    name: "an apply that creates takes both rights",
    log: [did("patch", pods, { code: 201 })],
    grants: [may(Pod, "patch", "create")],
    unused: [],
  },
  {
    name: "an apply that changes takes one",
    log: [did("patch", pods)],
    grants: [may(Pod, "patch", "create")],
    unused: ["create pods"],
  },
  {
    name: "what others do is their business",
    log: [did("list", pods, { username: `${user}-2` }), did("get", undefined)],
    grants: [may(Pod, "list")],
    unused: ["list pods"],
  },
];

it.each(cases)("$name", async ({ log, grants, unused }) => {
  expect(await audited(log, grants)).toEqual({ unused, refused: [] });
});

it("what was refused is told", async () => {
  const log = [did("delete", pods, { code: 403 }), did("list", pods)];
  expect((await audited(log, [])).refused).toEqual(["delete pods"]);
});

async function audited(log: readonly object[], grants: readonly Grant[]) {
  await using folder = await temporaryFolder();
  const auditLog = join(folder.path, "audit.log");
  const half = JSON.stringify(did("get", pods)).slice(0, 60); // being written just now
  await writeFile(auditLog, [...log.map((line) => JSON.stringify(line)), half].join("\n"));
  return await auditOf({ auditLog, user, grants });
}

// Real Kubernetes, because RBAC is enforced: the program runs in one namespace with only the permissions that it prints. Checks what
// users see with kubectl and `memhog explain`.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { startProgram } from "@memhog/localcluster/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { operatorName } from "../../src/api/names.ts";
import {
  confirmed,
  furnish,
  longTest,
  noTrend,
  type RealWorld,
  realWorld,
  resizesInPlace,
  smallHog,
} from "./real-world.fixture.ts";

beforeAll(furnish);

const main = join(import.meta.dirname, "../../src/main.ts");
const nowhere = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
const says = async (...args: readonly string[]) => (await promisify(execFile)(process.execPath, [main, ...args])).stdout;

describe.runIf(resizesInPlace)("the program in one namespace (real Kubernetes: RBAC is enforced)", () => {
  it("needs only the Role that it prints and no access to nodes; kubectl and explain show what it did", longTest, async () => {
    await using on = await realWorld();
    const { cluster, namespace, kubectl } = on;
    await cluster.apply(await says("rbac", "--namespace", namespace));
    const kubeconfig = await cluster.kubeconfigFor({ serviceAccount: operatorName, namespace });
    const here = ["--kubeconfig", kubeconfig, "--namespace", namespace, `--prometheus-addr=${cluster.prometheus}`];
    await using _program = startProgram(main, ...here, "--interval=5s", ...nowhere);
    await on.monitor(noTrend);
    await on.apply(smallHog("hungry"));
    await on.eventually(
      () => on.pod("hungry"),
      (pod) => confirmed(pod) === "128Mi/256Mi",
    );

    const monitors = await on.eventually(
      () => kubectl("get", "appmonitors"),
      (text) => / 1 +1 +0 +Watching +AsExpected /.test(text),
    );
    expect(monitors.split("\n")[0]?.split(/ {2,}/)).toEqual([
      "NAME",
      "THRESHOLD",
      "MULTIPLIER",
      "STRATEGY",
      "PODS",
      "RAISES",
      "OOMKILLS",
      "STATUS",
      "DEGRADED",
      "AGE",
    ]);
    const memories = await on.eventually(
      () => kubectl("get", "appmemories"),
      (text) => /^pod-hungry +Pod\/hungry +256Mi +256Mi +256Mi +Watching +(CoolingDown|BelowThreshold) +\d/m.test(text),
    );
    expect(memories.split("\n")[0]?.split(/ {2,}/)).toEqual([
      "NAME",
      "APP",
      "LIMIT",
      "WANTED",
      "APPLIED",
      "OOMKILLS",
      "PHASE",
      "REASON",
      "AGE",
    ]);
    const raised = /MemoryRaised +\S+ +memhog-operator.* memhog 64Mi\/128Mi → 128Mi\/256Mi, in place/;
    for (const what of ["pod/hungry", "appmonitor/johnny-cache"])
      await on.eventually(
        () => kubectl("describe", what),
        (text) => raised.test(text),
      );
    expect(await kubectl("describe", "appmemory", "pod-hungry")).toMatch(/Outcome: +Applied/);

    const explained = await says("explain", "hungry", ...here);
    expect(explained).toContain(`Pod ${namespace}/hungry of Pod/hungry`);
    expect(explained).toContain("Monitored by AppMonitor johnny-cache (at 75 % × 2, Auto)");
    expect(explained).toMatch(/memhog: hold — (CoolingDown|BelowThreshold): /);
    expect(explained).toMatch(/Last actions:\n.* InPlace {2}memhog 128Mi → 256Mi {2}Applied/);
    expect(JSON.parse(await says("explain", "hungry", "--output=json", ...here))).toMatchObject({
      pod: "hungry",
      app: "Pod/hungry",
      verdicts: [{ container: "memhog", decision: { kind: "hold" } }],
      lastActions: [{ outcome: "Applied" }],
    });
    expect(await refusals(on)).toEqual([]);
  });
});

interface Audited {
  readonly user?: { readonly username?: string };
  readonly verb: string;
  readonly requestURI: string;
  readonly responseStatus?: { readonly code?: number };
}

/** Requests of the operator that RBAC rejected. */
async function refusals({ cluster, namespace }: RealWorld): Promise<readonly string[]> {
  const { auditLog = "" } = cluster as { readonly auditLog?: string };
  const me = `system:serviceaccount:${namespace}:${operatorName}`;
  const lines = (await readFile(auditLog, "utf8")).split("\n").filter((line) => line.includes(me) && line.endsWith("}"));
  expect(lines.length).toBeGreaterThan(0);
  return lines
    .map((line) => JSON.parse(line) as Audited)
    .filter(({ user, responseStatus }) => user?.username === me && responseStatus?.code === 403)
    .map(({ verb, requestURI }) => `${verb} ${requestURI}`);
}

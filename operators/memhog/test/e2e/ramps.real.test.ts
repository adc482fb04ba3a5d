// Real Kubernetes, because the operator races a leak with samples that are up to 15 seconds old. The cluster is separate: it has a
// scrape interval of 5 s, as documented for users, and a kubelet with default settings.
import { hogPod } from "@memhog/hog";
import type { Cluster } from "@memhog/localcluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mib } from "../../src/model/bytes.ts";
import { cgroupLimit } from "./cgroup.fixture.ts";
import { longTest, ownCluster, resizesInPlace, restartsOf, worldIn } from "./real-world.fixture.ts";

const resizes = 5;

describe.runIf(resizesInPlace)("an endless ramp from a limit of 384Mi (real Kubernetes: the kernel OOM-kills it)", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await ownCluster();
  });
  afterAll(() => cluster?.down());

  const ramps = [
    { rate: "2Mi/s", start: "200Mi" }, // stays below the threshold for the first hundred seconds
    { rate: "10Mi/s", start: "0" },
  ];
  it.concurrent.each(ramps)(
    "of $rate reaches 720 MiB without an OOM kill, in at most five resizes",
    longTest,
    async ({ rate, start }) => {
      await using on = await worldIn(cluster, await cluster.namespace());
      await on.monitor();
      const operator = await on.operate();
      const args = ["--start", start, "--ramp", rate, "--to", "1100Mi"];
      await on.apply(hogPod({ name: "leak", args, limit: "384Mi", request: "256Mi", monitored: true }));
      await on.eventually(
        () => on.kubectl("logs", "leak", "--tail=1"),
        (line) => Number(/^holding (\d+)/.exec(line)?.[1]) >= 720,
        { timeoutMs: 480_000 },
      );
      const pod = await on.pod("leak");
      expect(restartsOf(pod)).toBe(0);
      expect(cgroupLimit(pod)).toBeGreaterThan(mib(720));
      expect((await on.appMemory("pod-leak"))?.status.oomKills ?? 0).toBe(0);
      const asked = operator.journal.calls.filter(({ path, status }) => path.includes("/resize") && status === 200);
      expect(asked.length).toBeGreaterThan(0);
      expect(asked.length).toBeLessThanOrEqual(resizes);
    },
  );
});

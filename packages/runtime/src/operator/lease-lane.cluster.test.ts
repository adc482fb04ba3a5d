// A2: calls to the Lease have a separate rate limit, so that it is renewed however busy the operator is.
import { testCluster } from "@memhog/simulator/testing";
import { expect, it } from "vitest";
import { silentLogger } from "../concurrency/environment.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { Lease } from "../objects/kinds/access.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { clientOf } from "../testing/cluster-world.ts";
import { acquireLeadership } from "./leader-election.ts";

it("A2: a leader renews its lease while its other calls are delayed for minutes by the rate limit", async () => {
  await using cluster = await testCluster();
  const namespace = cluster.defaultNamespace;
  await using witness = await clientOf(cluster);
  await using client = await clientOf(cluster, { rateLimit: { qps: 0.1, burst: 1 } });
  const ending = new AbortController();
  const leadership = await acquireLeadership(
    {
      ...{ client, lease: { namespace, name: "busy" }, identity: "busy", environment: systemEnvironment(), log: silentLogger },
      ...{ leaseDurationMs: 6_000, renewDeadlineMs: 4_000, retryPeriodMs: 400 },
    },
    ending.signal,
  );
  const answered: unknown[] = [];
  const crowd = Array.from({ length: 50 }, () =>
    client.list(ConfigMap, { namespace, signal: ending.signal, timeoutMs: 600_000 }).then(
      (list) => answered.push(list),
      () => {},
    ),
  );
  const renewals = new Set<string | undefined>();
  await cluster.eventually(
    async () => renewals.add((await witness.get(Lease, { namespace, name: "busy" })).spec?.renewTime),
    ({ size }) => size >= 5,
  );
  expect(leadership.lost.aborted).toBe(false);
  expect(answered.length).toBeLessThan(50); // the others really had to wait
  ending.abort();
  await Promise.all(crowd);
  await leadership.release();
});

// Promise A2: however busy the rest of us is, the Lease is renewed; its calls have a budget of their own.
import { testCluster } from "@memhog/simulator/testing";
import { expect, it } from "vitest";
import { silentLogger } from "../concurrency/logger.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { Lease } from "../objects/kinds/coordination.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { clientOf } from "../testing/cluster-client.ts";
import { acquireLeadership } from "./leader-election.ts";

it("A2: a leader whose other calls wait in line for minutes goes on renewing its lease", async () => {
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

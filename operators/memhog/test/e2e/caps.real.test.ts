// Real Kubernetes, because admission, the quota controller and the kubelet enforce the caps.
import { beforeAll, describe, expect, it } from "vitest";
import { bytesOf, mib, quantityText } from "../../src/model/bytes.ts";
import { cgroupLimit } from "./cgroup.fixture.ts";
import {
  asked,
  confirmed,
  furnish,
  longTest,
  noTrend,
  type RealWorld,
  realWorld,
  resizesInPlace,
  restartsOf,
  smallHog,
} from "./real-world.fixture.ts";

beforeAll(furnish);

interface Case {
  readonly name: string;
  /** Fields of the AppMonitor. */
  readonly spec?: object;
  /** Other objects in the namespace. */
  readonly objects?: readonly object[];
  /** The name of the cap in Events and in the AppMemory. */
  readonly cap: string;
  readonly limit: string;
}

const cases: readonly Case[] = [
  { name: "maxMemory", spec: { maxMemory: "192Mi" }, cap: "maxMemory", limit: "192Mi" },
  {
    name: "a LimitRange",
    objects: [
      { kind: "LimitRange", metadata: { name: "small" }, spec: { limits: [{ type: "Container", max: { memory: "200Mi" } }] } },
    ],
    cap: "LimitRange/small",
    limit: "200Mi",
  },
  {
    name: "a ResourceQuota",
    objects: [{ kind: "ResourceQuota", metadata: { name: "team" }, spec: { hard: { "limits.memory": "180Mi" } } }],
    cap: "ResourceQuota/team",
    limit: "180Mi",
  },
];

describe.runIf(resizesInPlace)(
  "caps on a real node (real Kubernetes: admission and the kubelet enforce them)",
  { concurrent: true },
  () => {
    it.each(cases)("$name limits the raise and is named in the report", longTest, async ({ spec, objects = [], cap, limit }) => {
      await using on = await realWorld();
      await on.operate();
      await on.apply(...objects.map((object) => ({ apiVersion: "v1", ...object })));
      await on.monitor({ ...noTrend, ...spec });
      await on.apply(smallHog("hungry"));
      await grownTo(on, limit, cap);
    });

    it("the memory of the node limits the raise and is named in the report", longTest, async () => {
      await using on = await realWorld();
      await on.operate();
      const nodes = await on.cluster.list({ apiVersion: "v1", kind: "Node" });
      // Selects the real node: other tests on this cluster may have added nodes without a kubelet.
      const node = nodes.find(({ metadata }) => metadata.name === "node-1");
      const allocatable = bytesOf(node?.status.allocatable.memory);
      const inMib = Math.floor(allocatable / mib(1));
      // The threshold is 1 %, and the raise asks for 10 × an eighth of the node.
      // With maxMemory the default caps do not apply.
      await on.monitor({ ...noTrend, memThresholdPercent: 1, memMultiplier: 10, maxMemory: "1Ti" });
      await on.apply(smallHog("hungry", { limit: `${Math.floor(inMib / 8)}Mi` }));
      await grownTo(on, quantityText(mib(inMib)), `Node/${node?.metadata.name}`);
    });

    it(
      "a container that needs more than a cap allows is reported as CapReached, with the name of the cap",
      longTest,
      async () => {
        await using on = await realWorld();
        await on.operate();
        await on.monitor({ ...noTrend, maxMemory: "150Mi", cooldownSeconds: 0 }); // 116Mi is more than 75 % of it
        await on.apply(smallHog("hungry"));
        await grownTo(on, "150Mi", "maxMemory");
        const memory = await on.eventually(
          () => on.appMemory("pod-hungry"),
          (found) => found?.status.reason === "CapReached",
        );
        expect(memory?.status).toMatchObject({ limit: "150Mi", wanted: "300Mi", applied: "150Mi" });
        await on.eventually(
          () => on.appMonitor(),
          (monitor) =>
            monitor?.status.conditions.some(
              ({ type, status, reason, message }: Record<string, string>) =>
                type === "Degraded" && status === "True" && reason === "CapReached" && message?.includes("Pod/hungry"),
            ),
        );
        await on.told("Pod", /^CapReached: .*maxMemory/);
      },
    );
  },
);

async function grownTo(on: RealWorld, limit: string, cap: string): Promise<void> {
  const pod = await on.eventually(
    () => on.pod("hungry"),
    (found) => confirmed(found).endsWith(`/${limit}`),
  );
  expect(asked(pod)).toMatch(new RegExp(`/${limit}$`));
  expect(cgroupLimit(pod)).toBe(bytesOf(limit));
  expect(restartsOf(pod)).toBe(0);
  const told = await on.told("Pod", /^RaiseCapped/);
  expect(told).toContainEqual(expect.stringContaining(`${cap} allows no more`));
  const memory = await on.eventually(
    () => on.appMemory("pod-hungry"),
    (found) => found?.status.raises === 1,
  );
  const { intents = [], actions = [] } = memory?.status ?? {};
  expect([...intents, ...actions][0].changes).toMatchObject([{ cappedBy: cap, to: { limit } }]);
}

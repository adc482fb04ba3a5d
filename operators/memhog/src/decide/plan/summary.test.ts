// The state of an app in one word.
import { expect, it } from "vitest";
import { mib } from "../../model/bytes.ts";
import {
  aContainerSeen,
  anAction,
  anApp,
  anAppWith,
  aPodSeen,
  aPolicy,
  aRecord,
  aTemplate,
  hungry,
  now,
  samplesOf,
  underWay,
} from "../../model/seen.fixture.ts";
import { decide } from "../decide.ts";

const to384 = [
  { container: "memhog", from: { limit: mib(200), request: undefined }, to: { limit: mib(384), request: undefined } },
];

it.each([
  { name: "nothing to do", seen: anApp(), phase: "Watching", reason: "BelowThreshold" },
  { name: "a raise begins", seen: anAppWith(hungry), phase: "Raising", reason: "ThresholdCrossed" },
  { name: "a raise is under way", seen: anApp(underWay()), phase: "Raising", reason: "ThresholdCrossed" },
  {
    name: "the kubelet defers it",
    seen: anAppWith({ limit: mib(768), appliedLimit: mib(384) }, underWay(), { resize: { state: "deferred" } }),
    phase: "Waiting",
    reason: "ResizeDeferred",
  },
  {
    name: "the owner rolls out",
    seen: anApp({
      policies: [aPolicy({ strategy: "Redeploy" })],
      ...underWay({ road: "Template", id: "template-uid/Template/384Mi/1", changes: to384 }),
      template: aTemplate({ rolledOut: false }),
    }),
    phase: "Waiting",
    reason: "RolloutInProgress",
  },
  {
    name: "it is too soon",
    seen: anAppWith(hungry, { record: aRecord({ actions: [anAction({ atMs: now - 10_000 })] }) }),
    phase: "Waiting",
    reason: "CoolingDown",
  },
  {
    name: "a cap is in the way",
    seen: anAppWith(hungry, { policies: [aPolicy({ maxMemory: mib(384) })] }),
    phase: "Waiting",
    reason: "AtCeiling",
  },
  { name: "paused", seen: anAppWith(hungry, { policies: [aPolicy({ paused: true })] }), phase: "Stopped", reason: "Paused" },
  {
    name: "two AppMonitors",
    seen: anApp({ policies: [aPolicy(), aPolicy({ uid: "b" })] }),
    phase: "Stopped",
    reason: "AmbiguousMonitor",
  },
  { name: "no pods", seen: anApp({ pods: [] }), phase: "Watching", reason: "NotRunning" },
  { name: "no pods, no AppMonitor", seen: anApp({ pods: [], policies: [] }), phase: "Stopped", reason: "NoMonitor" },
])("$name: $phase, $reason", ({ seen, phase, reason }) => expect(decide(seen).summary).toMatchObject({ phase, reason }));

it("speaks of the container that is nearest to its limit while nothing is done", () => {
  const containers = [aContainerSeen(), aContainerSeen({ name: "side", samples: samplesOf([200, 200]) })];
  expect(decide(anApp({ pods: [aPodSeen({ containers })] })).summary).toMatchObject({
    container: "side",
    limit: mib(384),
    applied: mib(384),
  });
});

it("speaks of what is wanted and of what the kubelet has confirmed", () => {
  expect(decide(anAppWith(hungry)).summary).toMatchObject({
    container: "memhog",
    limit: mib(384),
    wanted: mib(768),
    applied: mib(384),
  });
});

it("looks again when a cooldown ends", () => {
  const record = aRecord({ actions: [anAction({ atMs: now - 10_000 })] });
  expect(decide(anAppWith(hungry, { record })).againInMs).toBe(50_000);
  expect(decide(anApp()).againInMs).toBeUndefined();
});

import { expect, it } from "vitest";
import { aContainerSeen, anApp, aPodSeen, aPolicy, now } from "../model/seen.fixture.ts";
import type { AppSeen, ContainerSeen, PodSeen } from "../model/seen.ts";
import { resizesInPlace } from "./in-place-able.ts";

interface Case {
  readonly name: string;
  readonly app?: Partial<AppSeen>;
  readonly pod?: Partial<PodSeen>;
  readonly container?: Partial<ContainerSeen>;
  readonly able: boolean;
}

const killed = { running: false, oomKill: { restart: 0, atMs: now, stillDown: true } };

const cases: readonly Case[] = [
  { name: "what runs is resized where it is", able: true },
  { name: "not where the cluster cannot", app: { cluster: { inPlace: false, resizeAfterOomKill: false } }, able: false },
  { name: "not where the strategy is Redeploy", app: { policies: [aPolicy({ strategy: "Redeploy" })] }, able: false },
  { name: "not a pod of a sort that cannot be", pod: { notResizable: "it is a static pod" }, able: false },
  { name: "not where it would change the QoS class", pod: { qos: "BestEffort" }, able: false },
  { name: "not a pod that has ended, whatever killed it", pod: { phase: "Failed" }, container: killed, able: false },
  { name: "what was killed, where Kubernetes can", container: killed, able: true },
  {
    name: "not what was killed, before Kubernetes 1.37",
    app: { cluster: { inPlace: true, resizeAfterOomKill: false } },
    container: killed,
    able: false,
  },
  { name: "not what has not started yet", container: { running: false }, able: false },
  {
    name: "not what is down for another reason than its last kill",
    container: { running: false, oomKill: { ...killed.oomKill, stillDown: false } },
    able: false,
  },
];

it.each(cases)("$name", ({ app, pod, container, able }) => {
  expect(resizesInPlace(anApp(app), aPodSeen(pod), aContainerSeen(container))).toBe(able);
});

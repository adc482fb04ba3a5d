import { Job, type Kind, type KubernetesObject, type ObjectRef, type Stored } from "@memhog/runtime";
import { ReplicaSet } from "@memhog/runtime/kinds";
import { anObject, aPod } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { appAnnotation, copyOfLabel } from "../api/names.ts";
import type { AppName } from "../model/observed-app.ts";
import { appMemoryName, appNamedBy, appOf, appRef, appText, parseApp } from "./app-of.ts";

const owned = (apiVersion: string, kind: string, name: string, uid = `uid-${name}`) => ({
  ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
});
const web = anObject(ReplicaSet, { metadata: { name: "web-1", uid: "uid-web-1", ...owned("apps/v1", "Deployment", "web") } });
const alone = anObject(ReplicaSet, { metadata: { name: "alone", uid: "uid-alone" } });
const canary = anObject(ReplicaSet, {
  metadata: { name: "canary-1", uid: "uid-canary-1", ...owned("argoproj.io/v1alpha1", "Rollout", "canary") },
});
const nightly = anObject(Job, { metadata: { name: "report-1", uid: "uid-report-1", ...owned("batch/v1", "CronJob", "report") } });
const once = anObject(Job, { metadata: { name: "once", uid: "uid-once" } });

const memory = anObject(AppMemory, {
  metadata: { name: "pod-hungry", ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "uid-copy" }] },
  status: {
    intents: [
      { copy: "hungry-autoscaled-2", copyUid: "uid-new-copy", pod: { name: "x", uid: "uid-copy" } },
      { copy: "hungry-autoscaled-3", pod: { name: "x", uid: "uid-copy" } },
    ],
  },
} as object);
const copy = (uid: string, name: string) => ({ uid, name, annotations: { [appAnnotation]: "hungry" } });

/** The content of the caches. */
const owners = {
  get<T extends KubernetesObject>({ kind }: Kind<T>, { namespace, name }: ObjectRef): Stored<T> | undefined {
    const all: readonly Stored<KubernetesObject>[] =
      kind === "Job" ? [nightly, once] : kind === "AppMemory" ? [memory] : [web, alone, canary];
    return all.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace) as Stored<T> | undefined;
  },
};
const nameOf = (metadata: object) => {
  const app = appOf(aPod({ metadata: { name: "hungry", ...metadata } }), owners);
  return app && appText(app);
};

describe("appOf", () => {
  it.each([
    { name: "a pod of a Deployment", metadata: owned("apps/v1", "ReplicaSet", "web-1"), app: "Deployment/web" },
    {
      name: "a pod of a ReplicaSet without a Deployment",
      metadata: owned("apps/v1", "ReplicaSet", "alone"),
      app: "ReplicaSet/alone",
    },
    { name: "a pod of a StatefulSet", metadata: owned("apps/v1", "StatefulSet", "db"), app: "StatefulSet/db" },
    { name: "a pod of a DaemonSet", metadata: owned("apps/v1", "DaemonSet", "agent"), app: "DaemonSet/agent" },
    { name: "a pod of a CronJob", metadata: owned("batch/v1", "Job", "report-1"), app: "CronJob/report" },
    { name: "a pod of a Job", metadata: owned("batch/v1", "Job", "once"), app: "Job/once" },
    { name: "a bare pod", metadata: {}, app: "Pod/hungry" },
    { name: "a copy that owns the AppMemory of the app", metadata: copy("uid-copy", "any-name"), app: "Pod/hungry" },
    { name: "a copy whose UID is in an intent", metadata: copy("uid-new-copy", "any-name"), app: "Pod/hungry" },
    {
      name: "a copy that an intent names, before its UID is stored",
      metadata: { ...copy("uid", "hungry-autoscaled-3"), labels: { [copyOfLabel]: "uid-copy" } },
      app: "Pod/hungry",
    },
    { name: "T2: a pod that claims to be a copy", metadata: copy("uid", "attacker"), app: "Pod/attacker" },
    {
      name: "T2: a pod that claims to be a copy, and has the name of the next one",
      metadata: copy("uid", "hungry-autoscaled-3"),
      app: "Pod/hungry-autoscaled-3",
    },
    {
      name: "T2: a pod that claims to be a copy of a pod without an AppMemory",
      metadata: { ...copy("uid", "attacker"), annotations: { [appAnnotation]: "other" } },
      app: "Pod/attacker",
    },
    {
      name: "a pod of a ReplicaSet with an unknown controller",
      metadata: owned("apps/v1", "ReplicaSet", "canary-1"),
      app: "Other/Rollout.argoproj.io/canary",
    },
    { name: "a pod of an unknown owner", metadata: owned("example.com/v1", "Thing", "it"), app: "Other/Thing.example.com/it" },
    {
      name: "a pod of a Deployment in another API group",
      metadata: owned("example.com/v1", "Deployment", "web"),
      app: "Other/Deployment.example.com/web",
    },
    { name: "a pod whose ReplicaSet is not in the cache yet", metadata: owned("apps/v1", "ReplicaSet", "new-1"), app: undefined },
    {
      name: "a pod whose ReplicaSet was recreated with the same name",
      metadata: owned("apps/v1", "ReplicaSet", "web-1", "uid-of-the-first"),
      app: undefined,
    },
    {
      name: "T1: a pod whose ReplicaSet has the same name as one in another namespace",
      metadata: { namespace: "elsewhere", ...owned("apps/v1", "ReplicaSet", "web-1") },
      app: undefined,
    },
  ])("returns the app of $name", ({ metadata, app }) => expect(nameOf(metadata)).toBe(app));
});

describe("the object name of an app", () => {
  const names: readonly AppName[] = [
    { kind: "Deployment", namespace: "default", name: "web" },
    { kind: "Pod", namespace: "default", name: "web.v1" },
    { kind: "StatefulSet", namespace: "default", name: `long-${"x".repeat(240)}` },
    { kind: "Other", namespace: "default", name: "Rollout.argoproj.io/web" },
    { kind: "Other", namespace: "default", name: "Rollout.example.com/web" },
  ];

  it("is valid, short enough, and different for different apps", () => {
    const all = names.map(appMemoryName);
    for (const name of all) expect(name).toMatch(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/);
    expect(new Set(all).size).toBe(names.length);
  });

  it.each(names)("can be parsed from the stored app: $kind/$name", (app) => {
    expect(parseApp("default", appText(app))).toEqual(app);
  });

  it("can be parsed from its key if it was not shortened", () => {
    expect(appRef({ kind: "Deployment", namespace: "default", name: "web-2" })).toEqual({
      namespace: "default",
      name: "deployment-web-2",
    });
    expect(appNamedBy({ namespace: "default", name: "deployment-web-2" })).toEqual({
      kind: "Deployment",
      namespace: "default",
      name: "web-2",
    });
    expect(appNamedBy({ namespace: "default", name: "somebody-elses" })).toBeUndefined();
  });

  it.each(["", "web", "Deployment/", "Thing/web", "deployment/web"])("cannot be parsed from %j", (text) => {
    expect(parseApp("default", text)).toBeUndefined();
  });
});

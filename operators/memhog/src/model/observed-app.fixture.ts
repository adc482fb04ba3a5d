// The default input of tests: the sample Deployment "memhog" with one Burstable pod, one container of 256Mi/384Mi that
// uses 100 MiB and stays there, and johnny-cache: 75 %, times 2. A test says only what is different:
//
//   anApp({ pods: [anObservedPod({ containers: [anObservedContainer({ samples: samplesOf([280, 288]) })] })] })
//   anAppWith({ samples: samplesOf([280, 288]) })          the same, for the many tests that are about one container
import { type Bytes, mib } from "./bytes.ts";
import type {
  ObservedApp,
  ObservedContainer,
  ObservedNode,
  ObservedPod,
  ObservedTemplate,
  Policy,
  Sample,
  SlotsTaken,
} from "./observed-app.ts";
import { type Action, type AppRecord, emptyRecord, type Intent } from "./plan.ts";

/** The moment at which all these worlds are seen. */
export const now = 1_800_000_000_000;

export function anApp(different: Partial<ObservedApp> = {}): ObservedApp {
  return {
    app: { kind: "Deployment", namespace: "demo", name: "memhog" },
    nowMs: now,
    policies: [aPolicy()],
    outranked: [],
    record: aRecord(),
    pods: [anObservedPod()],
    template: aTemplate(),
    limits: { ranges: [], quotas: [] },
    metrics: { available: true, freshForMs: 60_000 },
    cluster: { inPlace: true, resizeAfterOomKill: true },
    otherAutoscaler: undefined,
    underWayElsewhere: elsewhere(0),
    raisedAgoMs: new Map(),
    rolloutUnchangedMs: new Map(),
    ...different,
  };
}

/** So many slots are taken: by default by other apps of the same namespace. */
export function elsewhere(namespace: number, others: Partial<SlotsTaken> = {}): SlotsTaken {
  return { namespace, cluster: namespace, otherNamespaces: 0, ...others };
}

/** Rolled out, and new pods come first: the template of a Deployment that nobody has told otherwise. */
export function aTemplate(different: Partial<ObservedTemplate> = {}): ObservedTemplate {
  return {
    uid: "template-uid",
    resourceVersion: "7",
    containers: [{ name: "memhog", limit: mib(384), request: mib(256) }],
    replicas: 1,
    readyReplicas: 1,
    rolledOut: true,
    replacesPods: true,
    maxUnavailable: 0,
    surge: 1,
    deadlineMs: 600_000,
    ...different,
  };
}

/** Other autoscalers. */
export const hpa = { otherAutoscaler: { name: "HorizontalPodAutoscaler/web", kind: "HPA" } } as const;
export const vpa = { otherAutoscaler: { name: "VerticalPodAutoscaler/web", kind: "VPA" } } as const;

/** An app of one pod of one container. */
export function anAppWith(
  container: Partial<ObservedContainer>,
  different: Partial<ObservedApp> = {},
  pod: Partial<ObservedPod> = {},
): ObservedApp {
  return anApp({ pods: [anObservedPod({ containers: [anObservedContainer(container)], ...pod })], ...different });
}

export function anObservedPod(different: Partial<ObservedPod> = {}): ObservedPod {
  return {
    name: "memhog-1",
    uid: "pod-1",
    resourceVersion: "42",
    createdAtMs: now - 3_600_000,
    monitored: true,
    phase: "Running",
    ready: true,
    deleting: false,
    qos: "Burstable",
    node: aNode(),
    containers: [anObservedContainer()],
    resize: { state: "none" },
    notResizable: undefined,
    copyOf: undefined,
    copyRisk: undefined,
    ...different,
  };
}

export function aNode(different: Partial<ObservedNode> = {}): ObservedNode {
  return { name: "n1", allocatable: mib(16_384), requested: mib(4_096), underPressure: false, ...different };
}

/** The kubelet confirms what the spec asks for, unless a test says otherwise. */
export function anObservedContainer(different: Partial<ObservedContainer> = {}): ObservedContainer {
  const asked: { limit: Bytes | undefined; request: Bytes | undefined } = { limit: mib(384), request: mib(256), ...different };
  return {
    name: "memhog",
    sidecar: false,
    appliedLimit: asked.limit,
    appliedRequest: asked.request,
    restartsOnResize: false,
    running: true,
    restarts: 0,
    oomKill: undefined,
    samples: samplesOf([100, 100, 100]),
    badSamples: 0,
    ...different,
    ...asked,
  };
}

/** 300 of 384 MiB are used, which is more than 75 %; and it stays there. */
export const hungry: Pick<ObservedContainer, "samples"> = { samples: samplesOf([300, 300, 300]) };

/** So many MiB, oldest first, so far apart; the newest is `newestAgeMs` old. */
export function samplesOf(mibs: readonly number[], everyMs = 12_000, newestAgeMs = 2_000): readonly Sample[] {
  return mibs.map((size, i) => ({ bytes: mib(size), ageMs: newestAgeMs + (mibs.length - 1 - i) * everyMs }));
}

export function aPolicy(different: Partial<Policy> = {}): Policy {
  return {
    name: "johnny-cache",
    uid: "monitor-uid",
    generation: 1,
    thresholdPercent: 75,
    multiplier: 2,
    strategy: "Auto",
    metric: "WorkingSet",
    maxMemory: undefined,
    cooldownMs: 60_000,
    lookaheadMs: 60_000,
    maxRaisesPerHour: 6,
    paused: false,
    ...different,
  };
}

export function aRecord(different: Partial<AppRecord> = {}): AppRecord {
  return { ...emptyRecord, ...different };
}

const fromTo = [
  { container: "memhog", from: { limit: mib(384), request: mib(256) }, to: { limit: mib(768), request: mib(512) } },
];

/** In place, from 256Mi/384Mi to 512Mi/768Mi, decided a second ago. */
export function anIntent(different: Partial<Intent> = {}): Intent {
  return {
    id: "pod-1/InPlace/1",
    method: "InPlace",
    pod: { name: "memhog-1", uid: "pod-1" },
    changes: fromTo,
    reason: "ThresholdCrossed",
    atMs: now - 1_000,
    attempt: 1,
    ...different,
  };
}

/** An app with such an intent. */
export const underWay = (different: Partial<Intent> = {}): Pick<ObservedApp, "record"> => ({
  record: aRecord({ intents: [anIntent(different)] }),
});

/** The same raise, applied, ten minutes ago. */
export function anAction(different: Partial<Action> = {}): Action {
  return {
    atMs: now - 600_000,
    pod: { name: "memhog-1", uid: "pod-1" },
    changes: fromTo,
    method: "InPlace",
    reason: "ThresholdCrossed",
    outcome: "Applied",
    ...different,
  };
}

/** So many of them, oldest first, so far apart and the last as long ago. */
export function raises(count: number, different: Partial<Action> = {}, everyMs = 300_000): readonly Action[] {
  return Array.from({ length: count }, (_, i) => anAction({ atMs: now - (count - i) * everyMs, ...different }));
}

// The same world, of another kind of app.

/** As a bare pod: nobody owns it, there is no template. */
export const asBarePod = (seen: ObservedApp): ObservedApp => ({
  ...seen,
  app: { ...seen.app, kind: "Pod" },
  template: undefined,
});

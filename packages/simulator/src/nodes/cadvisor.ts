// The cgroups of a node: each container, the pause container of each pod, each pod, and the levels above them.
//
//     /                                               the machine
//     /kubepods                                       all pods
//     /kubepods/burstable                             those of one class (Guaranteed ones are directly below kubepods)
//     /kubepods/burstable/pod<uid>                    a pod:         container="", pod, namespace
//     /kubepods/burstable/pod<uid>/<id>               its sandbox:   container="", image of the pause container
//     /kubepods/burstable/pod<uid>/<id>               a container:   container="main", image, name
import type { Environment } from "@memhog/runtime";
import type { TransportRequest, TransportResponse } from "@memhog/runtime/client";
import type { Labels, Sample } from "../prometheus/exposition.ts";
import { type HttpEndpoint, serve } from "../prometheus/http.ts";
import type { Target } from "../prometheus/scraper.ts";
import { memoryLimitIn } from "./amounts.ts";
import type { ContainerRun } from "./container-run.ts";
import type { HollowNode, NodeRun } from "./hollow-node.ts";
import type { HollowNodes } from "./hollow-nodes.ts";
import { type Instant, instantAt, type Life } from "./life.ts";
import type { PodRun, Sandbox } from "./pod-run.ts";
import { canonicalImage } from "./pod-tools.ts";

const pauseImage = "registry.k8s.io/pause:3.10";
/** The measured usage of a pause container. */
const pauseBytes = 360_448;

interface CadvisorOptions {
  readonly environment: Environment;
  /** How long a terminated container is still exposed, with its last measurement. */
  readonly deadSeriesMs: number;
}

/** A terminated container that is still exposed. */
interface Dead {
  readonly samples: readonly Sample[];
  readonly until: number;
}

export class Cadvisor {
  readonly #node: NodeRun;
  readonly #options: CadvisorOptions;
  readonly #bootedAt: Instant;
  readonly #capacity: number;
  readonly #levels: ReadonlyMap<string, Cgroup>;
  /** By owner: a pod, the sandbox of a pod, or a run of a container. */
  readonly #cgroups = new WeakMap<PodRun | Sandbox | Life, Cgroup>();
  /** The containers of the last scrape, for those that are gone at the next. */
  #shown: ReadonlyMap<Life, readonly Sample[]> = new Map();
  #dead: readonly Dead[] = [];

  constructor(node: NodeRun, options: CadvisorOptions) {
    const { clock } = options.environment;
    this.#node = node;
    this.#options = options;
    this.#bootedAt = instantAt(clock, clock.monotonic());
    this.#capacity = memoryLimitIn({ limits: node.spec.capacity });
    const ids = ["/", "/kubepods", "/kubepods/besteffort", "/kubepods/burstable"];
    this.#levels = new Map(ids.map((id) => [id, this.#cgroup(labelsOf({ id }), this.#bootedAt)]));
  }

  /** The samples of /metrics/cadvisor at this time. */
  samples(): readonly Sample[] {
    this.#node.advance();
    const { clock } = this.#options.environment;
    const now = instantAt(clock, clock.monotonic());
    const pods = [...this.#node.pods.values()].filter(({ sandbox }) => sandbox.kind === "ready");
    const shown = new Map(pods.flatMap((run) => this.#ofContainers(run, now)));
    this.#noteDead(shown, now.ms);
    return [
      ...this.#ofLevels(pods, now),
      ...pods.flatMap((run) => this.#ofPod(run, now)),
      ...[...shown.values()].flat(),
      ...this.#dead.flatMap(({ samples }) => samples),
    ];
  }

  #noteDead(shown: ReadonlyMap<Life, readonly Sample[]>, now: number): void {
    const { deadSeriesMs } = this.#options;
    const gone = [...this.#shown].filter(([life]) => deadSeriesMs > 0 && !shown.has(life));
    const fresh = gone.map(([, samples]) => ({ samples, until: now + deadSeriesMs }));
    this.#dead = [...this.#dead.filter(({ until }) => until > now), ...fresh];
    this.#shown = shown;
  }

  #ofLevels(pods: readonly PodRun[], now: Instant): readonly Sample[] {
    return [...this.#levels].flatMap(([id, cgroup]) => {
      const isBelow = (run: PodRun) => id === "/" || homeOf(run).startsWith(id);
      const usage = (ms: number) => pods.filter(isBelow).reduce((sum, run) => sum + usageOfPod(run, ms), 0);
      return cgroup.samples(now, usage, id === "/" || id === "/kubepods" ? this.#capacity : 0);
    });
  }

  #ofPod(run: PodRun, now: Instant): readonly Sample[] {
    const { sandbox } = run;
    if (sandbox.kind !== "ready") return [];
    const home = homeOf(run);
    const pod = this.#known(run, sandbox.since, () => labelsOf({ id: home, run }));
    const pause = this.#known(sandbox, sandbox.since, () =>
      labelsOf({ id: `${home}/${sandbox.id}`, run, image: pauseImage, name: sandbox.id }),
    );
    return [...pod.samples(now, (ms) => usageOfPod(run, ms), limitOfPod(run)), ...pause.samples(now, () => pauseBytes, 0)];
  }

  #ofContainers(run: PodRun, now: Instant): readonly (readonly [Life, readonly Sample[]])[] {
    return run.containers.flatMap(({ life, name: container, spec, memoryLimit }) => {
      if (life === undefined) return [];
      const cgroup = this.#known(life, life.startedAt, () => {
        const id = `${homeOf(run)}/${life.containerId}`;
        return labelsOf({ id, run, container, image: canonicalImage(spec.image ?? ""), name: life.containerId });
      });
      return [[life, cgroup.samples(now, (ms) => life.usage(ms), finite(memoryLimit))] as const];
    });
  }

  #known(of: PodRun | Sandbox | Life, since: Instant, labels: () => Labels): Cgroup {
    const cgroup = this.#cgroups.get(of) ?? this.#cgroup(labels(), since);
    this.#cgroups.set(of, cgroup);
    return cgroup;
  }

  #cgroup(labels: Labels, since: Instant): Cgroup {
    return new Cgroup({ labels, since, everyMs: 10_000 + Math.floor(5_000 * this.#options.environment.random()) });
  }
}

interface Described {
  readonly id: string;
  readonly run?: PodRun;
  readonly container?: string;
  readonly image?: string;
  readonly name?: string;
}

function labelsOf({ id, run, container = "", image = "", name = "" }: Described): Labels {
  const { namespace = "", name: pod = "" } = run?.pod.metadata ?? {};
  return { container, id, image, name, namespace, pod };
}

function homeOf({ pod, uid }: PodRun): string {
  const { qosClass = "BestEffort" } = pod.status ?? {};
  return `/kubepods/${qosClass === "Guaranteed" ? "" : `${qosClass.toLowerCase()}/`}pod${uid}`;
}

function usageOfPod({ containers, sandbox }: PodRun, ms: number): number {
  const lives = containers.flatMap(({ life }) => (life !== undefined && life.startedAt.ms <= ms ? [life] : []));
  return lives.reduce((sum, life) => sum + life.usage(ms), sandbox.kind === "ready" ? pauseBytes : 0);
}

function limitOfPod({ containers }: PodRun): number {
  const counted = containers.filter(({ role }: ContainerRun) => role !== "init");
  return finite(counted.reduce((sum, { memoryLimit }) => sum + memoryLimit, 0));
}

function finite(limit: number): number {
  return Number.isFinite(limit) ? limit : 0;
}

// One cgroup in cAdvisor: its labels and a memory sample of some seconds ago. cAdvisor samples each cgroup every 10 to 15 seconds
// and exposes the value with its timestamp. Here the sample is computed when it is requested.

interface CgroupOptions {
  readonly labels: Labels;
  readonly since: Instant;
  /** Milliseconds between two measurements. */
  readonly everyMs: number;
}

class Cgroup {
  readonly #options: CgroupOptions;
  #samples: readonly Sample[] = [];
  /** The wall clock at the time of the measurement. A later step of the clock does not change it. */
  #measuredAt: Instant | undefined;
  #limit: number | undefined;

  constructor(options: CgroupOptions) {
    this.#options = options;
  }

  /**
   * The exposed samples. Measurements carry their timestamp; configured values do not.
   *
   * @param now measurements after a step of the wall clock have the new time
   * @param usage bytes in use at a time of the monotonic clock
   * @param limit bytes; 0 without a limit, as in cAdvisor
   */
  samples(now: Instant, usage: (ms: number) => number, limit: number): readonly Sample[] {
    const { labels, since } = this.#options;
    const ms = since.ms + this.#elapsed(now.ms);
    const isNew = ms !== this.#measuredAt?.ms;
    // Most scrapes come between two measurements and return the same samples.
    if (!isNew && limit === this.#limit) return this.#samples;
    const measuredAt = isNew ? { ms, wall: now.wall - (now.ms - ms) } : (this.#measuredAt ?? now);
    this.#measuredAt = measuredAt;
    this.#limit = limit;
    const timestampMs = Math.round(measuredAt.wall);
    const value = usage(ms);
    this.#samples = [
      { name: "container_memory_rss", labels, value, timestampMs },
      { name: "container_memory_usage_bytes", labels, value, timestampMs },
      { name: "container_memory_working_set_bytes", labels, value, timestampMs },
      { name: "container_spec_memory_limit_bytes", labels, value: limit },
      { name: "container_start_time_seconds", labels, value: Math.floor(since.wall / 1_000) },
    ];
    return this.#samples;
  }

  /** Measured at its start and at every interval since. */
  #elapsed(now: number): number {
    const { since, everyMs } = this.#options;
    return Math.max(0, Math.floor((now - since.ms) / everyMs)) * everyMs;
  }
}

export const help = {
  container_memory_rss: { type: "gauge", help: "Size of RSS in bytes." },
  container_memory_usage_bytes: {
    type: "gauge",
    help: "Current memory usage in bytes, including all memory regardless of when it was accessed",
  },
  container_memory_working_set_bytes: { type: "gauge", help: "Current working set in bytes." },
  container_spec_memory_limit_bytes: { type: "gauge", help: "Memory limit for the container." },
  container_start_time_seconds: { type: "gauge", help: "Start time of the container since unix epoch in seconds." },
} as const;

// The HTTP endpoint of the metrics.

/** A node as a scrape target, with the labels that localcluster's Prometheus gives to the real node. */
export function cadvisorTarget(node: HollowNode): Target {
  return { labels: { job: "cadvisor", instance: node.name, node: node.name }, scrape: () => node.samples() };
}

/**
 * Serves the metrics on a port of this machine, for a real Prometheus:
 *
 *     http://127.0.0.1:PORT/nodes/<name>/metrics/cadvisor
 */
export function serveCadvisor(nodes: Pick<HollowNodes, "all">, port = 0): Promise<HttpEndpoint> {
  return serve((request) => answerTo(nodes, request), port);
}

function answerTo({ all }: Pick<HollowNodes, "all">, { path }: TransportRequest): TransportResponse {
  const [, name] = /^\/nodes\/([^/]+)\/metrics\/cadvisor$/.exec(path) ?? [];
  const node = all.find((each) => each.name === name);
  return node === undefined ? { status: 404, headers: {}, body: "404 page not found\n" } : metricsOf(node);
}

/** @throws NodeDownError, which cuts the connection, because a node without power does not respond */
export function metricsOf(node: HollowNode): TransportResponse {
  return { status: 200, headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" }, body: node.metricsText() };
}

// What an operator can be told, and what it does when it is not. Resolved and checked once, at the beginning.
import { hostname } from "node:os";
import type { Client } from "../client/client.ts";
import type { RateLimit } from "../client/rate-limit.ts";
import type { Environment } from "../concurrency/environment.ts";
import type { Logger } from "../concurrency/logger.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import type { Controller } from "../controller/definition.ts";
import type { ObjectRef } from "../objects/object.ts";
import type { AnyResource } from "../schema/define-resource.ts";
import type { CertificateSource } from "../webhook/certificate-source.ts";
import type { WebhookAddress } from "../webhook/configuration.ts";
import type { WebhookServerOptions } from "../webhook/server.ts";
import type { Webhook } from "../webhook/webhooks.ts";
import { OperatorOptionsError } from "./errors.ts";
import type { LeaderElectionOptions } from "./leader-election.ts";
import { type ProcessHooks, thisProcess } from "./process-hooks.ts";
import type { Counter, Gauge, Histogram } from "./prometheus.ts";

/** A metric of prom-client. */
export type OwnMetric = Counter | Gauge | Histogram;

export interface OperatorOptions {
  /** For the Lease, Events, logs and the names of what it makes: lower-case letters, digits and dashes. */
  readonly name: string;
  readonly controllers: readonly Controller[];
  /** Asked by the API server before it stores objects. @default none */
  readonly webhooks?: readonly Webhook[];
  readonly webhookServer?: WebhookOptions;

  /** Path of a kubeconfig. @default $KUBECONFIG, the pod's service account, or ~/.kube/config */
  readonly kubeconfig?: string;
  /** A context of it. @default the current one */
  readonly context?: string;
  /** Namespaces to look into; "own" is the pod's in a cluster, and that of the kubeconfig's context elsewhere. @default "all" */
  readonly namespaces?: readonly string[] | "all" | "own";
  /** Put these definitions into the cluster first. Takes rights an operator should not have at work. @default none */
  readonly installCrds?: readonly AnyResource[];
  /** Calls per second, and how many may come at once. @default 20 and 30 */
  readonly rateLimit?: RateLimit;

  /** Of several replicas let one work. @default false */
  readonly leaderElection?: boolean | ElectionOptions;
  /** Milliseconds that reconciles under way get to finish when the operator is asked to stop. @default 20 s, of the 30 a pod has */
  readonly drainMs?: number;

  /** Where /metrics and /debug/explain are served; "0" for nowhere. @default ":8080" */
  readonly metricsBindAddress?: string;
  /** Where /healthz and /readyz are served; "0" for nowhere. @default ":8081" */
  readonly healthProbeBindAddress?: string;
  /** How much to log, as -v. @default 0 */
  readonly verbosity?: number;
  /** Metrics of the operator's own, served with the others: `new Counter({ name, help, registers: [] })`. @default none */
  readonly metrics?: readonly OwnMetric[];
  /** What Events and the Lease call this process. @default the host name, which in a pod is the pod's name */
  readonly instance?: string;

  /**
   * "small" keeps Node's young generation at 1 MiB: some 20 MiB less, for more time spent on collecting when events come by the
   * thousand. "as Node likes" changes nothing, so flags of Node's are yours. @default "small"
   */
  readonly memory?: "small" | "as Node likes";

  // What comes in by the door; tests bring their own.

  /** @default the system's */
  readonly environment?: Environment;
  /** @default one made from the kubeconfig; a client that is given is not closed */
  readonly client?: Client;
  /** @default pino on standard error */
  readonly log?: Logger;
  /** Signals and the end of the process. @default this process */
  readonly process?: ProcessHooks;
}

export type ElectionOptions = Partial<
  Pick<LeaderElectionOptions, "identity" | "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs"> & {
    /** @default the operator's name, in the namespace it runs in */
    readonly lease: ObjectRef;
  }
>;

export interface WebhookOptions extends Pick<WebhookServerOptions, "host" | "port" | "http2" | "maxBodyBytes" | "maxConcurrent"> {
  /** How the API server reaches us. @default the Service <name>-webhook in the namespace the operator runs in */
  readonly address?: WebhookAddress;
  /** A folder with tls.crt and tls.key that somebody else keeps fresh; then caBundle is theirs, too. */
  readonly certificateFolder?: string;
  /** Any other source. @default certificates of our own making, shared by replicas through the Secret <name>-webhook-certificates */
  readonly certificates?: CertificateSource;
}

/** The options with everything that has a default. */
export interface ResolvedOptions extends OperatorOptions {
  readonly webhooks: readonly Webhook[];
  readonly webhookServer: WebhookOptions;
  readonly namespaces: readonly string[] | "all" | "own";
  readonly installCrds: readonly AnyResource[];
  readonly election: ElectionOptions | undefined;
  readonly drainMs: number;
  readonly metricsBindAddress: string;
  readonly healthProbeBindAddress: string;
  readonly verbosity: number;
  readonly environment: Environment;
  readonly process: ProcessHooks;
  readonly metrics: readonly OwnMetric[];
  readonly memory: "small" | "as Node likes";
  readonly instance: string;
}

/** @throws OperatorOptionsError */
export function resolveOptions(options: OperatorOptions): ResolvedOptions {
  const { name, controllers, leaderElection = false } = options;
  if (!/^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$/.test(name)) {
    throw new OperatorOptionsError(
      `expected a name of lower-case letters, digits and dashes, at most 52 of them, found ${JSON.stringify(name)}`,
    );
  }
  const twice = controllers.find((one, i) => controllers.findIndex((other) => other.name === one.name) !== i);
  if (twice !== undefined) {
    throw new OperatorOptionsError(
      `expected controllers of different names, found two called ${twice.name} → give one a name in its options`,
    );
  }
  return {
    ...{ webhooks: [], webhookServer: {}, namespaces: "all", installCrds: [], metrics: [], drainMs: 20_000, verbosity: 0 },
    ...{ metricsBindAddress: ":8080", healthProbeBindAddress: ":8081", memory: "small", instance: hostname() },
    ...options,
    election: leaderElection === true ? {} : leaderElection || undefined,
    environment: options.environment ?? systemEnvironment(),
    process: options.process ?? thisProcess(),
  };
}

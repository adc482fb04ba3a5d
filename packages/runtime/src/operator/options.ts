// The options of an operator: defaults, validation, and the permissions that follow from them. Resolved once, at the start.
import { hostname } from "node:os";
import type { Counter, Gauge, Histogram } from "prom-client";
import type { RateLimit } from "../client/call.ts";
import type { Client } from "../client/client.ts";
import type { Environment, Logger } from "../concurrency/environment.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import type { CacheReader } from "../controller/context.ts";
import type { Controller } from "../controller/controller.ts";
import { Secret } from "../objects/kinds/core.ts";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../objects/kinds/extension.ts";
import type { Kind, ObjectRef } from "../objects/object.ts";
import type { AnyResource } from "../schema/define-resource.ts";
import { applyRbac } from "../schema/install.ts";
import { allow, type Grant, inferPermissions } from "../schema/permissions.ts";
import type { CertificateSource } from "../webhook/certificates.ts";
import type { WebhookAddress } from "../webhook/configuration.ts";
import type { WebhookServerOptions } from "../webhook/server.ts";
import type { Webhook } from "../webhook/webhooks.ts";
import type { HealthCheck } from "./endpoints.ts";
import { OperatorOptionsError } from "./errors.ts";
import type { LeaderElectionOptions } from "./leader-election.ts";
import { type ProcessHooks, thisProcess } from "./process.ts";

/** A metric of prom-client. */
export type CustomMetric = Counter | Gauge | Histogram;

export interface OperatorOptions {
  /** Names the Lease, the Events, the logs and the objects it creates: lowercase letters, digits and dashes. */
  readonly name: string;
  readonly controllers: readonly Controller[];
  /** Admission and conversion webhooks. @default none */
  readonly webhooks?: readonly Webhook[];
  readonly webhookServer?: WebhookOptions;
  /** Start and stop with the controllers: a dashboard, a collector. @default none */
  readonly runnables?: readonly Runnable[];

  /** Path of a kubeconfig. @default $KUBECONFIG, the pod's service account, or ~/.kube/config */
  readonly kubeconfig?: string;
  /** A context of the kubeconfig. @default the current one */
  readonly context?: string;
  /** Namespaces to watch. "own" is the pod's namespace in a cluster, and the kubeconfig context's elsewhere. @default "all" */
  readonly namespaces?: readonly string[] | "all" | "own";
  /** CRDs to apply before starting. Requires permissions that an operator should not have in production. @default none */
  readonly installCrds?: readonly AnyResource[];
  /** Client-side rate limit: calls per second, and burst. @default 20 and 30 */
  readonly rateLimit?: RateLimit;

  /** Lets only one of several replicas reconcile. @default false */
  readonly leaderElection?: boolean | ElectionOptions;
  /** Milliseconds that running reconciles get to finish on shutdown. @default 20 s, of a pod's 30 s grace period */
  readonly drainMs?: number;

  /** Address of /metrics and /debug/explain; "0" disables them. @default ":8080" */
  readonly metricsBindAddress?: string;
  /** Address of /healthz and /readyz; "0" disables them. @default ":8081" */
  readonly healthProbeBindAddress?: string;
  /** Loopback address of CPU and heap profiles (profiler.ts); "0" disables them. @default "0" */
  readonly profilerBindAddress?: string;
  /** Additional checks of /healthz, by name: if one fails, the kubelet restarts the container. @default none */
  readonly healthChecks?: Readonly<Record<string, HealthCheck>>;
  /** Additional checks of /readyz, by name. @default none */
  readonly readyChecks?: Readonly<Record<string, HealthCheck>>;
  /** Log verbosity, as -v. @default 0 */
  readonly verbosity?: number;
  /** Custom metrics, served with the built-in ones: `new Counter({ name, help, registers: [] })`. @default none */
  readonly metrics?: readonly CustomMetric[];
  /** Identifies this process in Events and in the Lease. @default the host name, which is the pod's name in a pod */
  readonly instance?: string;

  /**
   * "small" keeps Node's young generation at 1 MiB. It saves about 20 MiB and costs more garbage collection under a high event
   * rate. "default" keeps Node's settings and flags. @default "small"
   */
  readonly memory?: "small" | "default";

  // Dependencies that tests replace.

  /** @default the system's */
  readonly environment?: Environment;
  /** The operator does not close a client given here. @default one created from the kubeconfig */
  readonly client?: Client;
  /** @default pino on standard error */
  readonly log?: Logger;
  /** Signal handling and exit. @default this process */
  readonly process?: ProcessHooks;
}

export interface Runnable {
  /** For logs. */
  readonly name: string;
  /** Whether it runs only while this replica leads. Without leader election it always runs. @default true */
  readonly needsLeaderElection?: boolean;
  /**
   * Called when the caches are synced. Must return when the signal aborts, and may return earlier. If it throws, the operator stops
   * and `run` rejects with the error.
   */
  start(context: RunnableContext): Promise<void>;
}

export interface RunnableContext {
  readonly client: Client;
  /** Reads the kinds that the operator's controllers watch. */
  readonly cached: CacheReader;
  readonly environment: Environment;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export type ElectionOptions = Partial<
  Pick<LeaderElectionOptions, "identity" | "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs"> & {
    /** @default the operator's name, in the operator's namespace */
    readonly lease: ObjectRef;
  }
>;

export interface WebhookOptions extends Pick<WebhookServerOptions, "host" | "port" | "http2" | "maxBodyBytes" | "maxConcurrent"> {
  /** The address at which the API server calls the webhooks. @default the Service <name>-webhook in the operator's namespace */
  readonly address?: WebhookAddress;
  /** A folder with tls.crt and tls.key that another program (cert-manager) rotates. That program must also set caBundle. */
  readonly certificateFolder?: string;
  /** Another certificate source. @default self-signed, shared by replicas through the Secret <name>-webhook-certificates */
  readonly certificates?: CertificateSource;
}

/** The options after defaults are applied. */
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
  readonly metrics: readonly CustomMetric[];
  readonly runnables: readonly Runnable[];
  readonly profilerBindAddress: string;
  readonly healthChecks: Readonly<Record<string, HealthCheck>>;
  readonly readyChecks: Readonly<Record<string, HealthCheck>>;
  readonly memory: "small" | "default";
  readonly instance: string;
}

/** @throws OperatorOptionsError */
export function resolveOptions(options: OperatorOptions): ResolvedOptions {
  const { name, controllers, leaderElection = false } = options;
  if (!/^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$/.test(name)) {
    throw new OperatorOptionsError(
      `expected a name of at most 52 lowercase letters, digits and dashes, found ${JSON.stringify(name)}`,
    );
  }
  const duplicate = controllers.find((one, i) => controllers.findIndex((other) => other.name === one.name) !== i);
  if (duplicate !== undefined) {
    throw new OperatorOptionsError(
      `expected controllers with different names, found two named ${duplicate.name} → set the option "name" of one of them`,
    );
  }
  return {
    ...{ webhooks: [], webhookServer: {}, namespaces: "all", installCrds: [], metrics: [], drainMs: 20_000, verbosity: 0 },
    ...{ runnables: [], healthChecks: {}, readyChecks: {}, profilerBindAddress: "0" },
    ...{ metricsBindAddress: ":8080", healthProbeBindAddress: ":8081", memory: "small", instance: hostname() },
    ...options,
    election: leaderElection === true ? {} : leaderElection || undefined,
    environment: options.environment ?? systemEnvironment(),
    process: options.process ?? thisProcess(),
  };
}

/** The Secret through which replicas share self-signed certificates. */
export const certificateSecretOf = (name: string): string => `${name}-webhook-certificates`;

/**
 * All permissions of an operator: those that its controllers declare and those that the runtime needs for leader election, CRDs and
 * webhooks.
 */
export function grantsOf(options: ResolvedOptions): readonly Grant[] {
  const { name, controllers, election, installCrds } = options;
  return [
    ...controllers.flatMap(({ grants }) => grants),
    ...(election === undefined ? [] : inferPermissions({ lease: election.lease?.name ?? name })),
    ...(installCrds.length === 0 ? [] : applyRbac),
    ...webhookGrants(options),
  ];
}

/** Certificates issued elsewhere require no permissions. */
function webhookGrants({ name, webhooks, webhookServer }: ResolvedOptions): readonly Grant[] {
  const selfSigned = webhookServer.certificateFolder === undefined && webhookServer.certificates === undefined;
  if (webhooks.length === 0 || !selfSigned) return [];
  const allowTrust = (type: Webhook["type"], kind: Kind, names: readonly string[]) =>
    webhooks.some((webhook) => webhook.type === type) ? [allow(kind, "get", "update", { names })] : [];
  const converted = webhooks.filter(({ type }) => type === "convert").map(({ kind }) => `${kind.plural}.${kind.group}`);
  return [
    allow(Secret, "create", { where: "operator" }),
    allow(Secret, "get", "update", { names: [certificateSecretOf(name)], where: "operator" }),
    ...allowTrust("validate", ValidatingWebhookConfiguration, [name]),
    ...allowTrust("mutate", MutatingWebhookConfiguration, [name]),
    ...allowTrust("convert", CustomResourceDefinition, converted),
  ];
}

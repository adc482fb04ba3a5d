// The door of @memhog/runtime. Walk it from top to bottom: an operator is put together from controllers, controllers are
// written against kinds, kinds come from Kubernetes or from `defineResource`, and underneath are a client and plain values.
// What tests need has a door of its own: @memhog/runtime/testing.

// operator/ — a program: configuration, leader, probes, metrics, events, logs, and an end in good order
export { parseAddress } from "./operator/endpoints.ts";
export { AddressError, FlagError, LeadershipLostError, OperatorError, OperatorOptionsError } from "./operator/errors.ts";
export type { Flag, FlagTable, FlagValues } from "./operator/flag-table.ts";
export { type OperatorFlags, type OperatorFlagsOptions, operatorFlags } from "./operator/flags.ts";
export { main, type Work } from "./operator/main.ts";
export { type LogOptions, makeLogger } from "./operator/logs.ts";
export { type OperatorManifestsOptions, operatorManifests, type Variant } from "./operator/manifests.ts";
export type { OperatorMetrics } from "./operator/metrics.ts";
/** For metrics of one's own, which `operator.metrics.registry` takes: the same prom-client that we count with. */
export { Counter, Gauge, Histogram } from "./operator/prometheus.ts";
export { type Operator, operator } from "./operator/operator.ts";
export type { ElectionOptions, OperatorOptions, OwnMetric, WebhookOptions } from "./operator/options.ts";

// controller/ — keeps objects of one kind as their spec says
export { type ChildOptions, child, type DesiredChild } from "./controller/children.ts";
export type { Context, ListFilter, StatusInput } from "./controller/context.ts";
export { controller } from "./controller/controller.ts";
export { declarative, type Seen, type Wanted } from "./controller/declarative.ts";
export type {
  CachedObjects,
  ContextFor,
  Controller,
  ControllerOptions,
  Finalizer,
  Source,
  SourceWorld,
  Watch,
} from "./controller/definition.ts";
export { ChildNotOursError, ControllerError, PermanentError, SeveralChildrenError } from "./controller/errors.ts";
export type { ReconcileRecord } from "./controller/explain.ts";
export type { Remark } from "./controller/object-events.ts";
export { checkAgainIn, done, type Outcome, waitForChange } from "./controller/outcome.ts";

// webhook/ — what is asked before an object is stored
export { type AdmissionRequest, allowed, denied, type Verdict } from "./webhook/admission.ts";
export type { CertificateSource } from "./webhook/certificate-source.ts";
export {
  conversionThrough,
  namesOf,
  type WebhookAddress,
  type WebhookConfigurationOptions,
  webhookConfigurations,
} from "./webhook/configuration.ts";
export { convert } from "./webhook/conversion.ts";
export { WebhookError } from "./webhook/errors.ts";
export { fileCertificates } from "./webhook/file-certificates.ts";
export { selfMadeCertificates } from "./webhook/self-made.ts";
export { type AdmissionWebhook, mutate, validate, type Webhook } from "./webhook/webhooks.ts";

// schema/ — one value: types, CRD, defaults, validation, columns, conditions, rights, reference
export { type Grant, type Granted, may, type Verb } from "./schema/access.ts";
export { unbounded, undescribed } from "./schema/completeness.ts";
export { condition } from "./schema/conditions.ts";
export { type CrdOptions, crdOf } from "./schema/custom-resource-definition.ts";
export * from "./schema/define-resource.ts";
export { checkManifests, type ManifestFiles, writeManifests } from "./schema/drift.ts";
export * from "./schema/errors.ts";
export { duration, keyedList, labelSelector, mapOf, preserveUnknown, quantity, setOf, stringMap } from "./schema/fields.ts";
export { type Involvement, impliedBy } from "./schema/implied-access.ts";
export { type InstallOptions, installAccess, installCrds } from "./schema/install.ts";
export { type NarrowedClient, narrow } from "./schema/narrowed-client.ts";
export { parseObject, withDefaults } from "./schema/parse.ts";
export { type RoleOptions, rolesFor, rulesFor } from "./schema/rbac.ts";
export { referenceOf } from "./schema/reference.ts";
export { exactlyOneOf, immutable, rule } from "./schema/rules.ts";
export { toYaml } from "./schema/yaml.ts";
/** What schemas are written in: the same zod that reads them. */
export { z } from "zod";

// cache/ — what the API server has, at hand
export type { Cache, CacheOptions, CacheStatus } from "./cache/cache.ts";
export { type Index, indexBy } from "./cache/object-index.ts";
export { leanMetadata, metadataOnly, type View, type ViewOf, view, withoutManagedFields } from "./cache/projection.ts";
export { SharedCaches } from "./cache/shared-caches.ts";
export type { Change } from "./cache/store.ts";

// client/ — the API server, spoken to
export type * from "./client/client.ts";
export { loadConfig } from "./client/config/load.ts";
export { type ConnectOptions, clientFor, connect } from "./client/connect.ts";
export type { CallReport, Observer } from "./client/observer.ts";
export type { Discovery, ServerVersion } from "./client/discovery.ts";
export * from "./client/errors.ts";
export { evict } from "./client/evict.ts";
export { type ClientOptions, clientOver } from "./client/make-client.ts";
export type { Transport, TransportRequest, TransportResponse } from "./client/transport/transport.ts";

// objects/ — plain values
export { findCondition, hasCondition, removeCondition, setCondition } from "./objects/condition.ts";
export { describeDifference, differences, equals, isSubset } from "./objects/diff.ts";
export { DurationError, formatDuration, hours, type Milliseconds, minutes, parseDuration, seconds } from "./objects/duration.ts";
export { formatSelector, matches, parseSelector, requirementsOf, type Selector, SelectorError } from "./objects/labels.ts";
export { formatMicroTime, formatTime, parseTime } from "./objects/time.ts";
export { identityLabels, recommendedLabels } from "./objects/recommended-labels.ts";
export { dnsLabel, dnsSubdomain, isDnsLabel, isDnsSubdomain, labelValue } from "./objects/names.ts";
export * from "./objects/object.ts";
export { controllerOf, isControlledBy, isOwnedBy, ownerReferenceTo } from "./objects/owner.ts";
export { parseQuantity, Quantity, QuantityError, quantityOf } from "./objects/quantity.ts";

// objects/kinds/ — the built-in kinds
export * from "./objects/kinds/admissionregistration.ts";
export * from "./objects/kinds/apiextensions.ts";
export * from "./objects/kinds/apps.ts";
export * from "./objects/kinds/autoscaling.ts";
export * from "./objects/kinds/batch.ts";
export * from "./objects/kinds/common.ts";
export * from "./objects/kinds/coordination.ts";
export * from "./objects/kinds/core/claim.ts";
export * from "./objects/kinds/core/config.ts";
export type * from "./objects/kinds/core/container.ts";
export * from "./objects/kinds/core/limits.ts";
export * from "./objects/kinds/core/namespace.ts";
export * from "./objects/kinds/core/node.ts";
export * from "./objects/kinds/core/pod.ts";
export type * from "./objects/kinds/core/pod-status.ts";
export type * from "./objects/kinds/core/probe.ts";
export type * from "./objects/kinds/core/scheduling.ts";
export type * from "./objects/kinds/core/security-context.ts";
export * from "./objects/kinds/core/service.ts";
export * from "./objects/kinds/core/service-account.ts";
export type * from "./objects/kinds/core/volume.ts";
export * from "./objects/kinds/discovery.ts";
export * from "./objects/kinds/events.ts";
export { dynamicKind } from "./objects/kinds/kind.ts";
export * from "./objects/kinds/policy.ts";
export * from "./objects/kinds/rbac.ts";

// concurrency/ — time and chance, handed in
export { abortable, anySignal, DeadlineExceededError, timeoutSignal } from "./concurrency/abort.ts";
export { Backoff, type BackoffOptions } from "./concurrency/backoff.ts";
export type { Cancel, Clock, Environment } from "./concurrency/environment.ts";
export { type Logger, silentLogger } from "./concurrency/logger.ts";
export { systemEnvironment } from "./concurrency/system-environment.ts";

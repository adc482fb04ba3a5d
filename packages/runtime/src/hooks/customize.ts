// The related objects of a parent: what its `customize` hook selects. Their kinds are declared with the controller, because caches and
// permissions are. A change of a related object calls the hooks of the parents that select it.

import type { CacheReader } from "../controller/context.ts";
import type { AnyWatch } from "../controller/controller.ts";
import { TerminalError } from "../controller/errors.ts";
import type { ReconcileScope } from "../controller/reconcile.ts";
import { Namespace } from "../objects/kinds/core.ts";
import { apiVersionOf, type Kind, type KubernetesObject, keyOf, type ObjectRef, refOf, type Stored } from "../objects/object.ts";
import { matches } from "../objects/selectors.ts";
import {
  type CustomizeRequest,
  type CustomizeResponse,
  callHook,
  customizeResponse,
  type Hook,
  type HookObject,
  type RelatedRule,
} from "./hook.ts";
import { type HookVersion, withType } from "./objects.ts";

type AnyObject = Stored<KubernetesObject>;

export interface CustomizeOptions {
  readonly hook: Hook<CustomizeRequest, CustomizeResponse> | undefined;
  /** The kinds that the hook can select. */
  readonly kinds: readonly Kind[];
  readonly version: HookVersion;
}

interface Selection {
  readonly ref: ObjectRef;
  readonly rules: readonly RelatedRule[];
}

/** Calls `customize`, and remembers what each parent selects, to know whom a change concerns. */
export class Customizer {
  readonly #options: CustomizeOptions;
  readonly #selections = new Map<string, Selection>();

  constructor(options: CustomizeOptions) {
    this.#options = options;
  }

  /** The related objects of a parent, by kind. */
  async related(
    scope: ReconcileScope,
    parent: AnyObject,
    controller: HookObject,
  ): Promise<readonly (readonly [Kind, readonly AnyObject[]])[]> {
    const { hook, kinds } = this.#options;
    if (hook === undefined) return [];
    const request = { controller, parent: withType(scope.kind, parent) };
    const call = { name: "customize", clock: scope.clock, signal: scope.signal };
    const { relatedResources } = await callHook<CustomizeRequest, CustomizeResponse>(hook, request, customizeResponse, call);
    const rules = relatedResources ?? [];
    checkRules(rules, kinds);
    const selection = { ref: refOf(parent), rules };
    this.#selections.set(keyOf(parent.metadata), selection);
    const selected = (kind: Kind) => scope.list(kind).filter((object) => this.#selects(selection, kind, object, scope));
    return kinds.filter((kind) => rules.some((rule) => isOfKind(rule, kind))).map((kind) => [kind, selected(kind)]);
  }

  forget(parent: ObjectRef): void {
    this.#selections.delete(keyOf(parent));
  }

  /** Triggers the parents that select a changed object, or its namespace. */
  watches(): readonly AnyWatch[] {
    const { hook, kinds } = this.#options;
    if (hook === undefined) return [];
    return kinds.map((kind) => ({
      kind,
      map: (object: AnyObject, cached: CacheReader) =>
        [...this.#selections.values()]
          .filter((selection) => this.#selects(selection, kind, object, cached) || byNamespace(selection, kind))
          .map(({ ref }) => ref),
    }));
  }

  /** With hooks of version v1, a namespaced parent sees its own namespace only. */
  #selects(
    { ref, rules }: Selection,
    kind: Kind,
    object: AnyObject,
    cached: { get(kind: Kind, ref: ObjectRef): AnyObject | undefined },
  ): boolean {
    const home = this.#options.version === "v1" ? ref.namespace : undefined;
    const labelsOf = (name: string) => cached.get(Namespace, { name })?.metadata.labels;
    return rules.some((rule) => selects(rule, kind, object, { home, labelsOf }));
  }
}

/** The labels of a namespace decide about objects in it. */
function byNamespace({ rules }: Selection, kind: Kind): boolean {
  return isOfKind({ apiVersion: "v1", resource: "namespaces" }, kind) && rules.some((rule) => rule.namespaceSelector != null);
}

/** Whether a rule selects an object of the kind. */
function selects(
  rule: RelatedRule,
  kind: Kind,
  object: AnyObject,
  scope: { readonly home: string | undefined } & Namespaces,
): boolean {
  const { names, namespace, labelSelector, namespaceSelector } = rule;
  if (!isOfKind(rule, kind)) return false;
  const where = object.metadata.namespace;
  if (namespace != null && where !== namespace) return false;
  if (scope.home !== undefined && where !== undefined && where !== scope.home) return false;
  if (namespaceSelector != null && (where === undefined || !matches(namespaceSelector, scope.labelsOf(where)))) return false;
  if (names != null && names.length > 0) return names.includes(object.metadata.name);
  return labelSelector == null || matches(labelSelector, object.metadata.labels);
}

interface Namespaces {
  readonly labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined;
}

function isOfKind({ apiVersion, resource }: Pick<RelatedRule, "apiVersion" | "resource">, kind: Kind): boolean {
  return resource === kind.plural && apiVersion === apiVersionOf(kind);
}

/** Rejects rules that metacontroller rejects, and kinds that are not declared. @throws TerminalError */
export function checkRules(rules: readonly RelatedRule[], kinds: readonly Kind[]): void {
  for (const { apiVersion, resource, names, namespace, labelSelector, namespaceSelector } of rules) {
    const what = `customize, ${resource} of ${apiVersion}`;
    if (!kinds.some((kind) => isOfKind({ apiVersion, resource }, kind)))
      throw new TerminalError(
        `${what}: expected a kind that is listed in related, found none → add it to related of the controller`,
      );
    if (names?.length && (labelSelector != null || namespaceSelector != null))
      throw new TerminalError(`${what}: expected names or selectors, found both`);
    if (namespace != null && namespaceSelector != null)
      throw new TerminalError(`${what}: expected namespace or namespaceSelector, found both`);
    if (namespaceSelector != null && !kinds.some((kind) => kind.plural === Namespace.plural && kind.group === ""))
      throw new TerminalError(`${what}: expected Namespace in related, because of namespaceSelector, found none`);
  }
}

// Kinds that somebody brings. A CustomResourceDefinition is judged when it is written (definition-errors.ts), gets its names if
// nobody else has them (accepted-names.ts), and from then on its versions are rows of the table of kinds (kind-entries.ts),
// with everything a row has: defaults, pruning, validation with rules in CEL, columns, subresources, conversion. When it is
// deleted its objects go first, finalizers and all, and the definition waits for them.
//
// What the real API server does in controllers is done here a moment after the write, in the order of names: nothing waits for
// a clock, and the same writes have the same consequences each time.
import type { Cancel, ObjectRef } from "@memhog/runtime";
import { type ApiObject, draftOf, type JsonObject, listAt, objectAt, sameJson } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import type { Admission } from "../server/admission.ts";
import { nowText, type ServerCore } from "../server/core.ts";
import { deleteObject } from "../server/delete.ts";
import { readOptions } from "../server/delete-options.ts";
import { forbidden, invalid, StatusError } from "../server/status-error.ts";
import { updateObject } from "../server/write.ts";
import type { SimulatorPart } from "../simulator.ts";
import { nameDefinition } from "./accepted-names.ts";
import { celEnvironment } from "./cel/library.ts";
import { conversionBetween } from "./conversion.ts";
import { definitionErrors } from "./definition-errors.ts";
import { kindEntriesOf } from "./kind-entries.ts";

const definitions = { group: "apiextensions.k8s.io", plural: "customresourcedefinitions" };
const cleanup = "customresourcecleanup.apiextensions.k8s.io";

export function customResources(): SimulatorPart {
  return {
    name: "custom resources",
    prepare: (core) => {
      const server = new DefinitionServer(core);
      core.admissions.push(server.admission());
      server.start();
    },
  };
}

interface Served {
  /** What the rows were made from; others are made when it changes. */
  readonly from: string;
  readonly entries: readonly KindEntry[];
}

class DefinitionServer {
  readonly #core: ServerCore;
  readonly #cel = celEnvironment();
  readonly #served = new Map<string, Served>();
  /** Watches of the objects of definitions that are going. */
  readonly #dying = new Map<string, Cancel>();
  #awake = false;

  constructor(core: ServerCore) {
    this.#core = core;
  }

  start(): void {
    const { storage } = this.#core;
    storage.watch(definitions, {}, storage.version, () => this.#wake());
  }

  admission(): Admission {
    const { storage } = this.#core;
    return {
      mutate: (_draft, { operation, kind, ref, subresource }) => {
        if (operation !== "CREATE" || kind.customResource === undefined || subresource !== undefined) return false;
        const definition = storage.get(definitions, { name: `${kind.plural}.${kind.group}` });
        if (definition?.metadata.deletionTimestamp !== undefined) throw forbidden(kind, ref.name, terminating);
        return false;
      },
      validate: (object, { operation, kind, ref, subresource, dryRun }) => {
        if (kind.group !== definitions.group || kind.plural !== definitions.plural || subresource !== undefined) return;
        if (operation === "DELETE") {
          if (!dryRun) this.#hold(ref);
          return;
        }
        const errors = definitionErrors(object, this.#cel);
        if (errors.length > 0) throw invalid(kind, ref.name, errors);
      },
    };
  }

  /** The definition gets a finalizer in the very moment of its deletion, which then finds it changed and looks again. */
  #hold(ref: ObjectRef): void {
    const before = this.#core.storage.get(definitions, ref);
    if (before === undefined || before.metadata.finalizers?.includes(cleanup) || before.metadata.deletionTimestamp) return;
    const finalizers = [...(before.metadata.finalizers ?? []), cleanup];
    this.#core.storage.write({
      kind: definitions,
      ref,
      before,
      after: { ...before, metadata: { ...before.metadata, finalizers } },
    });
  }

  #wake(): void {
    if (this.#awake) return;
    this.#awake = true;
    void Promise.resolve().then(async () => {
      this.#awake = false;
      await this.#lookAtAll();
    });
  }

  async #lookAtAll(): Promise<void> {
    const all = this.#core.storage.list(definitions);
    const names = new Set(all.map(({ metadata }) => metadata.name ?? ""));
    for (const name of [...this.#served.keys()]) if (!names.has(name)) this.#forget(name);
    for (const definition of all) {
      if (definition.metadata.deletionTimestamp === undefined) await this.#accept(definition, all);
      else await this.#empty(definition);
    }
  }

  async #accept(definition: ApiObject, all: readonly ApiObject[]): Promise<void> {
    const group = objectAt(definition, "spec").group;
    const others = all.filter((other) => other !== definition && objectAt(other, "spec").group === group);
    const { acceptedNames, conditions } = nameDefinition(definition, others, nowText(this.#core));
    const storedVersions = storedVersionsOf(definition);
    const status = { ...objectAt(definition, "status"), conditions: [...conditions], acceptedNames, storedVersions };
    if (sameJson(status, definition.status)) this.#serve(definition);
    else await this.#writeStatus(definition, status);
  }

  /** The write wakes us again. One that comes too late is of no consequence: whoever was faster woke us too. */
  async #writeStatus({ metadata }: ApiObject, status: JsonObject): Promise<void> {
    await this.#update(metadata.name ?? "", "status", (draft) => Object.assign(draft, { status }));
  }

  async #update(name: string, subresource: string | undefined, change: (draft: JsonObject) => void): Promise<void> {
    const kind = this.#core.kinds.find({ group: definitions.group, version: "v1" }, definitions.plural);
    if (kind === undefined) return;
    const target = { kind, name, ...(subresource !== undefined && { subresource }) };
    const call = {
      target,
      dryRun: false,
      manager: "kube-apiserver",
      fieldValidation: "Ignore",
      options: {},
      warn: () => {},
    } as const;
    const written = updateObject(this.#core, call, (old) => {
      const draft = draftOf(old);
      change(draft);
      return draft;
    });
    await written.catch((error: unknown) => {
      if (!(error instanceof StatusError)) throw error;
    });
  }

  #serve(definition: ApiObject): void {
    const { name = "", uid, generation } = definition.metadata;
    const conditions = listAt(definition, "status", "conditions");
    if (!conditions.some(({ type, status }) => type === "Established" && status === "True")) return;
    const from = JSON.stringify([uid, generation, objectAt(definition, "status").acceptedNames]);
    if (this.#served.get(name)?.from === from) return;
    this.#forget(name);
    const conversionTo = (version: string) => conversionBetween(definition, version, this.#core);
    const entries = kindEntriesOf(definition, { cel: this.#cel, conversionTo });
    for (const entry of entries) this.#core.kinds.add(entry);
    this.#served.set(name, { from, entries });
  }

  #forget(name: string): void {
    for (const entry of this.#served.get(name)?.entries ?? []) this.#core.kinds.remove(entry, entry.plural);
    this.#served.delete(name);
    this.#dying.get(name)?.();
    this.#dying.delete(name);
  }

  /** Deletes what is left of a kind; the definition goes when nothing is. */
  async #empty(definition: ApiObject): Promise<void> {
    const { name = "" } = definition.metadata;
    const [kind] = this.#served.get(name)?.entries ?? [];
    const left = kind === undefined ? [] : this.#core.storage.list(kind);
    for (const { metadata } of left) if (kind !== undefined && !metadata.deletionTimestamp) await this.#deleteOne(kind, metadata);
    if (kind !== undefined && this.#core.storage.list(kind).length > 0) this.#waitFor(name, kind);
    else await this.#update(name, undefined, ({ metadata }) => dropFinalizer(metadata as JsonObject));
  }

  async #deleteOne(kind: KindEntry, { namespace, name = "" }: ApiObject["metadata"]): Promise<void> {
    const target = { kind, name, ...(namespace !== undefined && { namespace }) };
    await deleteObject(this.#core, target, readOptions({})).catch((error: unknown) => {
      if (!(error instanceof StatusError)) throw error;
    });
  }

  #waitFor(name: string, kind: KindEntry): void {
    if (this.#dying.has(name)) return;
    const { storage } = this.#core;
    this.#dying.set(
      name,
      storage.watch(kind, {}, storage.version, () => this.#wake()),
    );
  }
}

function dropFinalizer(metadata: JsonObject): void {
  const left = ((metadata.finalizers ?? []) as string[]).filter((each) => each !== cleanup);
  if (left.length > 0) metadata.finalizers = left;
  else delete metadata.finalizers;
}

/** Every version that objects may be stored in: the present one joins those there were. */
function storedVersionsOf(definition: ApiObject): readonly unknown[] {
  const { storedVersions } = objectAt(definition, "status");
  const stored = listAt(definition, "spec", "versions").find(({ storage }) => storage === true)?.name;
  const known = Array.isArray(storedVersions) ? storedVersions : [];
  return known.includes(stored) ? known : [...known, stored];
}

const terminating = "create not allowed while custom resource definition is terminating";

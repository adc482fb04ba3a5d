// CustomResourceDefinitions. The server validates a definition on write (definition-errors.ts) and accepts its names unless another
// definition has them (accepted-names.ts). Its served versions then become kind entries (kind-entries.ts) with defaults, pruning,
// validation including CEL rules, columns, subresources, and conversion. Deleting a definition first deletes its objects and waits
// for their finalizers.
//
// The real API server does this in controllers. The simulator does it right after the write, ordered by name, without a clock, so
// the same writes always have the same effects.
import type { ObjectRef } from "@memhog/runtime";
import type { Cancel } from "@memhog/runtime/concurrency";
import { type ApiObject, draftOf, type JsonObject, listAt, objectAt, sameJson } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import type { Admission } from "../server/admission.ts";
import { nowText, type ServerCore } from "../server/core.ts";
import { deleteObject, readOptions } from "../server/delete.ts";
import { forbidden, invalid, StatusError } from "../server/status-error.ts";
import { updateObject } from "../server/write.ts";
import { nameDefinition } from "./accepted-names.ts";
import { celEnvironment } from "./cel.ts";
import { conversionBetween } from "./conversion.ts";
import { definitionErrors } from "./definition-errors.ts";
import { kindEntriesOf } from "./kind-entries.ts";

const definitions = { group: "apiextensions.k8s.io", plural: "customresourcedefinitions" };
const cleanup = "customresourcecleanup.apiextensions.k8s.io";

export function serveCustomResources(core: ServerCore): void {
  const server = new DefinitionServer(core);
  core.admissions.push(server.admission());
  server.start();
}

interface Served {
  /** The input of `entries`, serialized. A change creates new entries. */
  readonly from: string;
  readonly entries: readonly KindEntry[];
}

class DefinitionServer {
  readonly #core: ServerCore;
  readonly #cel = celEnvironment();
  readonly #served = new Map<string, Served>();
  /** Watches on the objects of definitions that are being deleted. */
  readonly #terminating = new Map<string, Cancel>();
  #scheduled = false;

  constructor(core: ServerCore) {
    this.#core = core;
  }

  start(): void {
    const { storage } = this.#core;
    storage.watch(definitions, {}, storage.version, () => this.#schedule());
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
          if (!dryRun) this.#addFinalizer(ref);
          return;
        }
        const errors = definitionErrors(object, this.#cel);
        if (errors.length > 0) throw invalid(kind, ref.name, errors);
      },
    };
  }

  /** Adds the finalizer while the definition is being deleted. The deletion then sees a conflict and retries. */
  #addFinalizer(ref: ObjectRef): void {
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

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    void Promise.resolve().then(async () => {
      this.#scheduled = false;
      await this.#processAll();
    });
  }

  async #processAll(): Promise<void> {
    const all = this.#core.storage.list(definitions);
    const names = new Set(all.map(({ metadata }) => metadata.name ?? ""));
    for (const name of [...this.#served.keys()]) if (!names.has(name)) this.#stopServing(name);
    for (const definition of all) {
      if (definition.metadata.deletionTimestamp === undefined) await this.#accept(definition, all);
      else await this.#deleteObjects(definition);
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

  /** The write triggers another pass. A conflict is harmless, because the other write also triggers one. */
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
    this.#stopServing(name);
    const conversionTo = (version: string) => conversionBetween(definition, version, this.#core);
    const entries = kindEntriesOf(definition, { cel: this.#cel, conversionTo });
    for (const entry of entries) this.#core.kinds.add(entry);
    this.#served.set(name, { from, entries });
  }

  #stopServing(name: string): void {
    for (const entry of this.#served.get(name)?.entries ?? []) this.#core.kinds.remove(entry, entry.plural);
    this.#served.delete(name);
    this.#terminating.get(name)?.();
    this.#terminating.delete(name);
  }

  /** Deletes the remaining objects of a kind. Removes the definition when none are left. */
  async #deleteObjects(definition: ApiObject): Promise<void> {
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
    if (this.#terminating.has(name)) return;
    const { storage } = this.#core;
    this.#terminating.set(
      name,
      storage.watch(kind, {}, storage.version, () => this.#schedule()),
    );
  }
}

function dropFinalizer(metadata: JsonObject): void {
  const left = ((metadata.finalizers ?? []) as string[]).filter((each) => each !== cleanup);
  if (left.length > 0) metadata.finalizers = left;
  else delete metadata.finalizers;
}

/** All versions that stored objects can have: the current storage version and earlier ones. */
function storedVersionsOf(definition: ApiObject): readonly unknown[] {
  const { storedVersions } = objectAt(definition, "status");
  const stored = listAt(definition, "spec", "versions").find(({ storage }) => storage === true)?.name;
  const known = Array.isArray(storedVersions) ? storedVersions : [];
  return known.includes(stored) ? known : [...known, stored];
}

const terminating = "create not allowed while custom resource definition is terminating";

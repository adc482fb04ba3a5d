// ConfigMaps, Secrets and ServiceAccounts.
import { type ApiObject, type Draft, objectAt } from "../../json.ts";
import { badRequest } from "../../server/status-error.ts";
import { ageColumn, nameColumn, text } from "../columns.ts";
import type { KindEntry } from "../kind-entry.ts";
import { configKeyErrors } from "../names.ts";
import { builtIn } from "../row.ts";
import { immutable, sealed } from "../validation.ts";

const entries = (object: ApiObject) =>
  Object.keys(objectAt(object, "data")).length + Object.keys(objectAt(object, "binaryData")).length;

const keyErrors = (object: ApiObject, ...fields: readonly string[]) =>
  fields.flatMap((field) => configKeyErrors(field, Object.keys(objectAt(object, field))));

export const configMaps: KindEntry = builtIn("", "v1", "ConfigMap", {
  shortNames: ["cm"],
  columns: [nameColumn, text("Data", entries), ageColumn],
  validate: (map, old) => [...sealed(["data", "binaryData"], map, old), ...keyErrors(map, "data", "binaryData")],
});

/** Text that is easier to write than base64: it goes into `data` and is never seen again. */
function encodeStrings(draft: Draft): void {
  const { stringData, ...rest } = draft;
  const given = Object.entries(objectAt({ stringData }, "stringData"));
  if (given.length === 0) return;
  const encoded = given.map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")] as const);
  draft.data = { ...objectAt(rest, "data"), ...Object.fromEntries(encoded) };
  delete draft.stringData;
}

/** Bytes are sent as base64; what is none is not even a Secret. */
function mustBeBase64(draft: Draft): void {
  for (const value of Object.values(objectAt(draft, "data"))) {
    const wrong = String(value).search(/[^A-Za-z0-9+/=]/);
    if (wrong < 0) continue;
    throw badRequest(`Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte ${wrong}`);
  }
}

export const secrets: KindEntry = builtIn("", "v1", "Secret", {
  table: {
    type: "Opaque",
    "*": (draft: unknown) => {
      mustBeBase64(draft as Draft);
      encodeStrings(draft as Draft);
    },
  },
  columns: [nameColumn, text("Type", ".type"), text("Data", entries), ageColumn],
  selectableFields: { type: (secret) => String(secret.type ?? "") },
  validate: (secret, old) => [...immutable("type", secret, old), ...sealed(["data"], secret, old), ...keyErrors(secret, "data")],
});

export const serviceAccounts: KindEntry = builtIn("", "v1", "ServiceAccount", {
  shortNames: ["sa"],
  returnsDeleted: true,
  columns: [nameColumn, ageColumn],
  subresources: {
    token: { verbs: ["create"], speaks: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" } },
  },
});

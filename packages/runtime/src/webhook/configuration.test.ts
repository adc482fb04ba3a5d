import { describe, expect, it } from "vitest";
import type { Kind } from "../objects/object.ts";
import { allowed } from "./admission.ts";
import { conversionThrough, namesOf, webhookConfigurations } from "./configuration.ts";
import { type AdmissionWebhookOptions, mutate, validate } from "./webhooks.ts";

const Gordon: Kind = { group: "operator.prgcont.cz", version: "v1", kind: "Gordon", plural: "gordons", namespaced: true };
const Pod: Kind = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };
const Node: Kind = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false };
const service = { namespace: "gordon-system", name: "gordon-webhook" };

/** The one entry of a configuration with one webhook. */
function entry(kind: Kind, options: AdmissionWebhookOptions = {}) {
  const [configuration] = webhookConfigurations([validate(kind, () => allowed(), options)], { name: "gordon", service });
  return configuration?.webhooks?.[0];
}

describe("a webhook configuration", () => {
  it("is complete for a custom resource", () => {
    expect(webhookConfigurations([validate(Gordon, () => allowed())], { name: "gordon", service, trust: "PEM" })).toEqual([
      {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingWebhookConfiguration",
        metadata: { name: "gordon" },
        webhooks: [
          {
            name: "validate.gordons.operator.prgcont.cz",
            clientConfig: { service: { ...service, path: "/validate-operator-prgcont-cz-v1-gordon" }, caBundle: "UEVN" },
            rules: [
              {
                operations: ["CREATE", "UPDATE"],
                apiGroups: ["operator.prgcont.cz"],
                apiVersions: ["v1"],
                resources: ["gordons"],
                scope: "Namespaced",
              },
            ],
            failurePolicy: "Fail",
            sideEffects: "None",
            matchPolicy: "Equivalent",
            timeoutSeconds: 5,
            admissionReviewVersions: ["v1"],
          },
        ],
      },
    ]);
  });

  it("for built-in kinds excludes kube-system and the operator's namespace and ignores failures", () => {
    expect(entry(Pod)).toMatchObject({
      name: "validate.pods.core",
      failurePolicy: "Ignore",
      namespaceSelector: {
        matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", "gordon-system"] }],
      },
    });
  });

  it("adds the exclusions to a given namespace selector", () => {
    const chosen = { matchLabels: { team: "a" }, matchExpressions: [{ key: "x", operator: "Exists" as const }] };
    expect(entry(Pod, { namespaceSelector: chosen })?.namespaceSelector).toMatchObject({
      matchLabels: { team: "a" },
      matchExpressions: [{ key: "x" }, { operator: "NotIn" }],
    });
  });

  it("excludes exactly the given namespaces", () => {
    expect(entry(Pod, { excludeNamespaces: [] })?.namespaceSelector).toBeUndefined();
    expect(entry(Gordon, { excludeNamespaces: ["legacy"] })?.namespaceSelector?.matchExpressions?.[0]?.values).toEqual([
      "legacy",
    ]);
  });

  it("has no namespace selector for cluster-scoped kinds", () => {
    expect(entry(Node)).not.toHaveProperty("namespaceSelector");
    expect(entry(Node)?.rules?.[0]?.scope).toBe("Cluster");
  });

  it("names subresources and distinguishes webhooks of the same kind", () => {
    expect(entry(Pod, { subresource: "eviction", operations: ["CREATE"], name: "budget" })).toMatchObject({
      name: "budget.validate.eviction.pods.core",
      rules: [{ resources: ["pods/eviction"], operations: ["CREATE"] }],
    });
  });

  it("separates mutating from validating webhooks and sets reinvocationPolicy IfNeeded", () => {
    const both = [validate(Gordon, () => allowed()), mutate(Gordon, () => undefined)];
    const [validating, mutating] = webhookConfigurations(both, { name: "gordon", url: "https://127.0.0.1:9443/" });
    expect(validating?.kind).toBe("ValidatingWebhookConfiguration");
    expect(mutating).toMatchObject({
      kind: "MutatingWebhookConfiguration",
      webhooks: [
        { reinvocationPolicy: "IfNeeded", clientConfig: { url: "https://127.0.0.1:9443/mutate-operator-prgcont-cz-v1-gordon" } },
      ],
    });
  });

  it.each([
    { name: "no address", make: () => webhookConfigurations([validate(Pod, () => allowed())], { name: "x" }) },
    { name: "two addresses", make: () => conversionThrough({ service, url: "https://x" }) },
    { name: "a timeout of a minute", make: () => entry(Pod, { timeoutSeconds: 60 }) },
  ])("is rejected with $name", ({ make }) => expect(make).toThrow(expect.objectContaining({ code: "WEBHOOK_DECLARATION" })));

  it("lists the host names of the webhook address", () => {
    expect(namesOf({ service })).toEqual(["gordon-webhook.gordon-system.svc", "gordon-webhook.gordon-system.svc.cluster.local"]);
    expect(namesOf({ url: "https://[::1]:9443" })).toEqual(["::1"]);
  });

  it("sets the conversion webhook of a CRD", () => {
    expect(conversionThrough({ url: "https://localhost:1" })).toEqual({
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://localhost:1/convert" } },
    });
  });
});

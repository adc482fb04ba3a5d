// Admission webhooks: validating, mutating and unreachable.
import * as kinds from "@memhog/runtime/kinds";
import { describe, expect, it } from "vitest";
import { ConfigMap } from "./kinds.ts";
import { serveWebhook, type Verdict } from "./webhook-server.ts";
import { at, loose, merge, refusal, world } from "./world.ts";

const here = world();
const Validating = loose(kinds.ValidatingWebhookConfiguration);
const Mutating = loose(kinds.MutatingWebhookConfiguration);

const allowed = { allowed: true };
/** Metadata that the object selector matches. The webhook ignores other objects in the namespace. */
const marked = (more: object = {}) => ({ labels: { asked: "yes" }, ...more });
const patch = (...operations: readonly object[]) => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

const webhook = (clientConfig: object, more: object = {}) => ({
  name: "cases.memhog.test",
  clientConfig,
  rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE", "DELETE"], resources: ["configmaps"] }],
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": here.namespace } },
  objectSelector: { matchLabels: { asked: "yes" } },
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  timeoutSeconds: 5,
  ...more,
});

type Configured = { readonly kind: typeof Validating; readonly clientConfig: object; readonly more?: object };

/** Creates the configuration and waits until a probe shows that the API server uses it. */
async function configured({ kind, clientConfig, more }: Configured, shows: () => Promise<boolean>): Promise<AsyncDisposable> {
  const name = `${here.namespace}-${here.name()}`;
  const made = await here.client.create(kind, { metadata: { name }, webhooks: [webhook(clientConfig, more)] });
  const close = async () => {
    await here.client.delete(kind, at(made));
    // The next test must not reach this webhook.
    await here.cluster.eventually(
      async () => !(await shows()),
      (gone) => gone,
    );
  };
  await here.cluster.eventually(shows, (shown) => shown);
  return { [Symbol.asyncDispose]: close };
}

const tryOut = (object: object) => here.client.create(ConfigMap, object, { dryRun: true });
const probe = () => ({ metadata: { namespace: here.namespace, name: "probe", ...marked() } });
const isRefused = () =>
  tryOut(probe()).then(
    () => false,
    () => true,
  );

/** A webhook that always rejects the probe and passes every other request to the test. */
async function refusing(verdict: Verdict, more: object = {}) {
  const judge: Verdict = (request) => (request.name === "probe" ? { allowed: false } : verdict(request));
  const server = await serveWebhook(here, judge);
  const configuration = await configured({ kind: Validating, clientConfig: server.clientConfig, more }, isRefused);
  return {
    [Symbol.asyncDispose]: async () => {
      await configuration[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("a validating webhook", () => {
  it("rejects with its own message and code", async () => {
    await using _ = await refusing(() => ({ allowed: false, status: { message: "not on a Monday", code: 418 } }));
    const refused = await refusal(here.make(ConfigMap, { metadata: marked() }));
    expect(refused.status).toBe(418);
    expect(refused.said).toBe('admission webhook "cases.memhog.test" denied the request: not on a Monday');
  });

  it("rejects with Forbidden if it sets no message", async () => {
    await using _ = await refusing(() => ({ allowed: false }));
    const refused = await refusal(here.make(ConfigMap, { metadata: marked() }));
    expect([refused.status, refused.reason]).toEqual([400, ""]);
    expect(refused.said).toBe('admission webhook "cases.memhog.test" denied the request without explanation');
  });

  it("receives the new object, the old object and the user", async () => {
    const seen: { operation: string; data: unknown; before: unknown; dryRun: boolean; of: string }[] = [];
    await using _ = await refusing(({ operation, object, oldObject, dryRun, resource }) => {
      seen.push({ operation, data: object?.data, before: oldObject?.data, dryRun, of: resource.resource });
      return allowed;
    });
    const made = await here.make(ConfigMap, { metadata: marked(), data: { x: "1" } });
    await here.client.patch(ConfigMap, at(made), merge({ data: { x: "2" } }));
    await here.client.delete(ConfigMap, at(made));
    const common = { dryRun: false, of: "configmaps" };
    expect(seen).toEqual([
      { operation: "CREATE", data: { x: "1" }, before: undefined, ...common },
      { operation: "UPDATE", data: { x: "2" }, before: { x: "1" }, ...common },
      { operation: "DELETE", data: undefined, before: { x: "2" }, ...common },
    ]);
  });

  it("can return warnings for an allowed request", async () => {
    await using _ = await refusing(() => ({ allowed: true, warnings: ["this will hurt"] }));
    here.warnings();
    await here.make(ConfigMap, { metadata: marked() });
    expect(here.warnings()).toEqual(["this will hurt"]);
  });

  it("is not called for objects that its selector does not match", async () => {
    await using _ = await refusing(() => ({ allowed: false }));
    expect(await here.make(ConfigMap, { metadata: { labels: { asked: "no" } } })).toBeDefined();
  });
});

describe("a webhook with match conditions", () => {
  const condition = (expression: string) => ({ matchConditions: [{ name: "one", expression }] });

  it("is not called if a condition is false", async () => {
    const more = condition(
      "has(object.metadata.annotations) && 'ask/me' in object.metadata.annotations || object.metadata.name == 'probe'",
    );
    await using _ = await refusing(() => ({ allowed: false }), more);
    expect(await here.make(ConfigMap, { metadata: marked() })).toBeDefined();
    expect(await here.make(ConfigMap, { metadata: marked({ annotations: { other: "yes" } }) })).toBeDefined();
    expect((await refusal(here.make(ConfigMap, { metadata: marked({ annotations: { "ask/me": "yes" } }) }))).status).toBe(400);
  });

  it("is not called if a condition fails and the failure policy is Ignore", async () => {
    const more = { ...condition("object.metadata.name == 'probe' || object.data.missing == 'x'"), failurePolicy: "Ignore" };
    await using _ = await refusing(() => ({ allowed: false }), more);
    expect(await here.make(ConfigMap, { metadata: marked() })).toBeDefined();
  });
});

describe("a mutating webhook", () => {
  const isPatched = async () => (await tryOut(probe())).data?.by === "webhook";
  async function changing(verdict: Verdict) {
    const set = patch({ op: "add", path: "/data", value: { by: "webhook" } });
    const server = await serveWebhook(here, (request) => (request.name === "probe" ? set : verdict(request)));
    const configuration = await configured({ kind: Mutating, clientConfig: server.clientConfig }, isPatched);
    return {
      [Symbol.asyncDispose]: async () => {
        await configuration[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  }

  it("changes the stored object", async () => {
    await using _ = await changing(() => patch({ op: "add", path: "/data/y", value: "2" }));
    const made = await here.make(ConfigMap, { metadata: marked(), data: { x: "1" } });
    expect((await here.client.get(ConfigMap, at(made))).data).toEqual({ x: "1", y: "2" });
  });

  it("changes nothing if it returns no patch", async () => {
    await using _ = await changing(() => allowed);
    expect((await here.make(ConfigMap, { metadata: marked(), data: { x: "1" } })).data).toEqual({ x: "1" });
  });

  it("fails the write if its patch cannot be applied", async () => {
    await using _ = await changing(() => patch({ op: "replace", path: "/data/a/b/c", value: "2" }));
    expect((await refusal(here.make(ConfigMap, { metadata: marked() }))).status).toBe(500);
  });

  it("cannot make an object invalid", async () => {
    await using _ = await changing(() => patch({ op: "add", path: "/metadata/labels/a", value: "-" }));
    expect((await refusal(here.make(ConfigMap, { metadata: marked() }))).reason).toBe("Invalid");
  });
});

describe("an unreachable webhook", () => {
  /** An address without a listener. */
  const nobody = { url: "https://127.0.0.1:1/", caBundle: "" };

  it("rejects the request with failurePolicy Fail", async () => {
    await using _ = await configured({ kind: Validating, clientConfig: nobody, more: { failurePolicy: "Fail" } }, isRefused);
    const refused = await refusal(here.make(ConfigMap, { metadata: marked() }));
    expect([refused.status, refused.reason]).toEqual([500, "InternalError"]);
    expect(refused.said).toMatch(/failed calling webhook "cases\.memhog\.test": failed to call webhook: /);
  });

  it("is ignored with failurePolicy Ignore", async () => {
    // A second webhook rejects the probe, which shows when the API server uses the configuration.
    await using server = await serveWebhook(here, (request) => ({ allowed: request.name !== "probe" }));
    const name = `${here.namespace}-${here.name()}`;
    const ignored = webhook(nobody, { name: "ignored.memhog.test", failurePolicy: "Ignore" });
    const made = await here.client.create(Validating, { metadata: { name }, webhooks: [ignored, webhook(server.clientConfig)] });
    await here.cluster.eventually(isRefused, (refused) => refused);
    expect(await here.make(ConfigMap, { metadata: marked() })).toBeDefined();
    await here.client.delete(Validating, at(made));
    await here.cluster.eventually(
      async () => !(await isRefused()),
      (gone) => gone,
    );
  });
});

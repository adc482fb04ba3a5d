import { describe, expect, it } from "vitest";
import type { Kind, KubernetesObject } from "../objects/object.ts";
import { type AdmissionRequest, type AdmissionResponse, allowed, denied } from "./admission.ts";
import { reviewersOf } from "./request-handler.ts";
import { mutate, validate, type Webhook } from "./webhooks.ts";

interface Gordon extends KubernetesObject {
  readonly spec: { readonly replicas: number; readonly hats?: readonly string[] };
}
const Gordon: Kind<Gordon> = { group: "operator.prgcont.cz", version: "v1", kind: "Gordon", plural: "gordons", namespaced: true };
const gordon = (replicas: number): Gordon => ({
  apiVersion: "operator.prgcont.cz/v1",
  kind: "Gordon",
  metadata: { name: "g" },
  spec: { replicas },
});

/** Returns the response that the API server would receive for this request. */
async function ask(webhook: Webhook, request: Partial<AdmissionRequest<Gordon>>): Promise<AdmissionResponse> {
  const review = {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "7", operation: "CREATE", ...request },
  };
  const answer = await reviewersOf([webhook]).get(webhook.path)?.(review, new AbortController().signal);
  expect(answer).toMatchObject({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid: "7" } });
  return (answer as { response: AdmissionResponse }).response;
}

const patchOf = ({ patch }: AdmissionResponse) =>
  patch === undefined ? undefined : JSON.parse(Buffer.from(patch, "base64").toString());

describe("a validating webhook", () => {
  const growsOnly = validate(Gordon, (object, old) =>
    old !== undefined && object.spec.replicas < old.spec.replicas ? denied("a Gordon does not shrink") : allowed(),
  );

  it("allows what its function allows", async () => {
    expect(await ask(growsOnly, { object: gordon(1) })).toEqual({ uid: "7", allowed: true });
  });

  it("rejects with the message of its function", async () => {
    expect(await ask(growsOnly, { operation: "UPDATE", object: gordon(1), oldObject: gordon(2) })).toEqual({
      uid: "7",
      allowed: false,
      status: { message: "a Gordon does not shrink", reason: "Forbidden", code: 403 },
    });
  });

  it("rejects like the API server's own validation when it names fields", async () => {
    const causes = [{ field: "spec.replicas", message: "must be odd" }];
    const { status } = await ask(
      validate(Gordon, () => denied("must be odd", { causes })),
      { object: gordon(2) },
    );
    expect(status).toEqual({ message: "must be odd", reason: "Invalid", code: 422, details: { causes } });
  });

  it("receives the deleted object on DELETE", async () => {
    const keep = validate(Gordon, (object, _old, { operation }) => denied(`${operation} of ${object.spec.replicas}`), {
      operations: ["DELETE"],
    });
    expect((await ask(keep, { operation: "DELETE", object: null, oldObject: gordon(3) })).status?.message).toBe("DELETE of 3");
  });

  it("returns warnings", async () => {
    expect(
      (
        await ask(
          validate(Gordon, () => allowed("hats are deprecated")),
          { object: gordon(1) },
        )
      ).warnings,
    ).toEqual(["hats are deprecated"]);
  });
});

describe("a mutating webhook", () => {
  it("answers with a patch from the received object to the returned one", async () => {
    const answer = await ask(
      mutate(Gordon, (object) => ({ ...object, spec: { ...object.spec, hats: ["bowler"] } })),
      { object: gordon(1) },
    );
    expect(answer).toMatchObject({ allowed: true, patchType: "JSONPatch" });
    expect(patchOf(answer)).toEqual([{ op: "add", path: "/spec/hats", value: ["bowler"] }]);
  });

  it.each([
    { name: "returns nothing", webhook: mutate(Gordon, () => undefined) },
    { name: "returns the object unchanged", webhook: mutate(Gordon, (object) => object) },
    { name: "returns an equal object", webhook: mutate(Gordon, (object) => structuredClone(object)) },
  ])("answers without a patch when its function $name", async ({ webhook }) => {
    expect(await ask(webhook, { object: gordon(1) })).toEqual({ uid: "7", allowed: true });
  });

  it("computes the patch even if the function modifies the received object", async () => {
    const careless = mutate(Gordon, (object) => {
      (object.spec as { replicas: number }).replicas = 9;
      return object;
    });
    expect(patchOf(await ask(careless, { object: gordon(1) }))).toEqual([{ op: "replace", path: "/spec/replicas", value: 9 }]);
  });

  it("can reject a write", async () => {
    expect(
      await ask(
        mutate(Gordon, () => denied("no")),
        { object: gordon(1) },
      ),
    ).toMatchObject({ allowed: false, status: { message: "no" } });
  });
});

describe("webhook paths", () => {
  it.each([
    { path: "/validate-operator-prgcont-cz-v1-gordon", webhook: validate(Gordon, () => allowed()) },
    { path: "/mutate-operator-prgcont-cz-v1-gordon-hats", webhook: mutate(Gordon, () => undefined, { name: "hats" }) },
    {
      path: "/validate-operator-prgcont-cz-v1-gordon-scale",
      webhook: validate(Gordon, () => allowed(), { subresource: "scale" }),
    },
    { path: "/mutate--v1-pod", webhook: mutate({ ...Gordon, group: "", kind: "Pod", plural: "pods" }, () => undefined) },
  ])("have the form that controller-runtime uses: $path", ({ path, webhook }) => expect(webhook.path).toBe(path));

  it("must be unique", () => {
    const webhook = validate(Gordon, () => allowed());
    expect(() => reviewersOf([webhook, webhook])).toThrow("give one of the validate(Gordon, …) a name");
  });

  it("accept only reviews", async () => {
    const webhook = validate(Gordon, () => allowed());
    const reviewer = reviewersOf([webhook]).get(webhook.path);
    for (const nonsense of [
      null,
      7,
      {},
      { kind: "AdmissionReview" },
      { kind: "Pod", request: { uid: "7", operation: "CREATE" } },
    ]) {
      await expect(reviewer?.(nonsense, new AbortController().signal)).rejects.toMatchObject({ code: "WEBHOOK_BAD_REVIEW" });
    }
  });
});

import { describe, expect, it } from "vitest";
import { Deployment } from "../objects/kinds/apps.ts";
import { Pod } from "../objects/kinds/core/pod.ts";
import { clientAnswering } from "../testing/answers.ts";
import * as errors from "./errors.ts";
import type { TransportRequest } from "./transport/transport.ts";

const web = { namespace: "default", name: "web" };

describe("reading", () => {
  it("find is undefined where get is NotFoundError", async () => {
    const { client } = clientAnswering(() => ({ status: 404, body: "" }));
    await expect(client.get(Pod, web)).rejects.toBeInstanceOf(errors.NotFoundError);
    expect(await client.find(Pod, web)).toBeUndefined();
  });

  it("puts the type back into the items of a list", async () => {
    const body = JSON.stringify({ metadata: { resourceVersion: "5" }, items: [{ metadata: { name: "a" }, odd: 1 }] });
    const { client } = clientAnswering(() => ({ body }));
    const { items, metadata } = await client.list(Deployment);
    expect(items).toEqual([{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, odd: 1 }]);
    expect(metadata.resourceVersion).toBe("5");
  });

  it("a list of nothing may come as null", async () => {
    const { client } = clientAnswering(() => ({ body: '{"metadata":{"resourceVersion":"5"},"items":null}' }));
    expect((await client.list(Pod)).items).toEqual([]);
  });

  it.each(['{"metadata":{"name":"x"}}', '{"kind":"Status","metadata":{},"code":403}', '{"items":[]}', "null"])(
    "what is no list is not taken for an empty one: %s",
    async (body) => {
      const { client } = clientAnswering(() => ({ body }));
      await expect(client.list(Pod)).rejects.toThrow(errors.AnswerError);
    },
  );

  const names = ["a", "b", "c", "d", "e"];
  const pages = ({ query }: TransportRequest) => {
    const from = Number(query?.continue ?? 0);
    const items = names.slice(from, from + 2).map((name) => ({ metadata: { namespace: "x", name } }));
    const next = from + 2 < names.length ? String(from + 2) : "";
    return { body: JSON.stringify({ metadata: { resourceVersion: "1", continue: next }, items }) };
  };

  it("listAll goes through all pages", async () => {
    const { client, journal } = clientAnswering(pages);
    const seen = await Array.fromAsync(client.listAll(Pod, { limit: 2 }), ({ metadata }) => metadata.name);
    expect(seen).toEqual(names);
    expect(journal.calls.map(({ query }) => query.continue)).toEqual([undefined, "2", "4"]);
  });

  it("listAll begins again when its pages expire, and hands nothing out twice", async () => {
    const { client, journal } = clientAnswering((request, call) => (call === 2 ? { status: 410, body: "" } : pages(request)));
    const seen = await Array.fromAsync(client.listAll(Pod, { limit: 2 }), ({ metadata }) => metadata.name);
    expect(seen).toEqual(names);
    expect(journal.calls.length).toBe(5);
  });

  it("listAll gives up when the list expires without getting anywhere", async () => {
    const { client } = clientAnswering(() => ({ status: 410, body: "" }));
    await expect(Array.fromAsync(client.listAll(Pod))).rejects.toBeInstanceOf(errors.ExpiredError);
  });

  it("delete tells whether the object is still there", async () => {
    const { client } = clientAnswering((_, call) => ({
      body: call === 1 ? '{"kind":"Pod","metadata":{"deletionTimestamp":"now"}}' : '{"kind":"Status","status":"Success"}',
    }));
    expect(await client.delete(Pod, web)).toMatchObject({ kind: "Pod" });
    expect(await client.delete(Pod, web)).toBeUndefined();
  });
});

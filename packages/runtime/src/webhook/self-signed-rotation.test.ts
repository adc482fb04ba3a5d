import { describe, expect, it } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { covers, isSignedBy, validityOf } from "./certificates.ts";
import { type CertificateState, rotated } from "./self-signed.ts";

const hour = 3_600_000;
const day = 24 * hour;
const options = {
  name: "gordon",
  names: ["gordon.apps.svc"],
  authorityLifetimeMs: 90 * day,
  servingLifetimeMs: 9 * day,
  settleMs: hour,
};

function world() {
  const environment = manualEnvironment();
  const look = (state?: CertificateState, given = options) => rotated(state, given, environment);
  return { environment, look, pass: (ms: number) => environment.clock.advance(ms) };
}

const signerOf = ({ serving, authorities }: CertificateState) =>
  authorities.findIndex(({ certificate }) => isSignedBy(serving.certificate, certificate));

describe("certificate rotation", () => {
  it("creates an authority and a certificate if there is no state", async () => {
    const state = await world().look();
    expect(state.authorities).toHaveLength(1);
    expect(signerOf(state)).toBe(0);
    expect(covers(state.serving.certificate, options.names)).toBe(true);
  });

  it("defaults to a 90-day certificate and a 10-year authority, and never lets a certificate outlive its authority", async () => {
    const { look } = world();
    const lifeOf = ({ certificate }: { certificate: string }) => {
      const { fromMs, untilMs } = validityOf(certificate);
      return Math.round((untilMs - fromMs) / day);
    };
    const usual = await rotated(undefined, { name: "gordon", names: options.names }, manualEnvironment());
    expect([usual.authorities[0], usual.serving].map((each) => each && lifeOf(each))).toEqual([3650, 90]);
    const { authorities, serving } = await look(undefined, { ...options, servingLifetimeMs: 900 * day });
    const [authority] = authorities;
    expect(validityOf(serving.certificate).untilMs).toBe(validityOf(authority?.certificate ?? "").untilMs);
  });

  it("returns the same value while nothing is due", async () => {
    const { look, pass } = world();
    const state = await look();
    await pass(5 * day);
    expect(await look(state)).toBe(state);
  });

  it("renews the certificate after two thirds of its lifetime, under the same authority", async () => {
    const { look, pass } = world();
    const state = await look();
    await pass(6 * day + hour);
    const next = await look(state);
    expect(next.serving).not.toEqual(state.serving);
    expect(next.authorities).toBe(state.authorities);
  });

  it("renews the certificate when the host names change", async () => {
    const { look } = world();
    const state = await look();
    expect((await look(state, { ...options, names: ["other.apps.svc"] })).serving).not.toEqual(state.serving);
  });

  it("trusts a new authority for the settle time before it signs, and the old one until it expires", async () => {
    const { look, pass } = world();
    let state = await look();
    const seen: string[] = [];
    const note = (when: string) =>
      seen.push(
        `${when}: ${state.authorities.length} trusted, signed by ${signerOf(state) === 0 ? "the newest" : "the old one"}`,
      );
    for (const [when, ms] of [
      ["before two thirds", 59 * day],
      ["after two thirds", 2 * day],
      ["after the settle time", hour],
      ["after its end", 30 * day],
    ] as const) {
      await pass(ms);
      state = await look(state);
      note(when);
    }
    expect(seen).toEqual([
      "before two thirds: 1 trusted, signed by the newest",
      "after two thirds: 2 trusted, signed by the old one",
      "after the settle time: 2 trusted, signed by the newest",
      "after its end: 1 trusted, signed by the newest",
    ]);
  });

  it("never presents an expired certificate or one of an untrusted authority in half a year of daily polls", async () => {
    const { environment, look, pass } = world();
    let state = await look();
    for (let at = 0; at < 180; at += 1) {
      await pass(day);
      state = await look(state);
      const now = environment.clock.now();
      expect(validityOf(state.serving.certificate).untilMs).toBeGreaterThan(now + day);
      expect(signerOf(state)).toBeGreaterThanOrEqual(0);
      for (const { certificate } of state.authorities) expect(validityOf(certificate).untilMs).toBeGreaterThan(now);
    }
  });

  it("recovers after authority and certificate have both expired", async () => {
    const { environment, look, pass } = world();
    const state = await look();
    await pass(200 * day);
    const next = await look(state);
    expect(next.authorities).toHaveLength(1);
    expect(validityOf(next.serving.certificate).untilMs).toBeGreaterThan(environment.clock.now());
  });
});

import { mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import type { ServingCertificate } from "./certificates.ts";
import { type CertifiedKey, issueServing, makeAuthority } from "./certificates.ts";
import type { CertificateError } from "./errors.ts";
import { fileCertificates } from "./file-certificates.ts";

const environment = systemEnvironment();
const authority = await makeAuthority({ name: "test", lifetimeMs: 86_400_000 }, environment);
const pair = () => issueServing(authority, { names: ["localhost"], lifetimeMs: 3_600_000 }, environment);

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "certificates-"));
  closing.push(() => rm(path, { recursive: true }));
  return path;
}

async function put(into: string, { certificate, key }: Partial<CertifiedKey>): Promise<void> {
  if (certificate !== undefined) await writeFile(join(into, "tls.crt"), certificate);
  if (key !== undefined) await writeFile(join(into, "tls.key"), key);
}

/** Follows the files of a directory; polling is disabled unless a test enables it. */
function follow(
  from: string,
  options: { readonly everyMs?: number; readonly onProblem?: (error: CertificateError) => void } = {},
) {
  const ending = new AbortController();
  closing.push(() => ending.abort());
  const paths = { certificate: join(from, "tls.crt"), key: join(from, "tls.key") };
  const source = fileCertificates({ ...paths, clock: environment.clock, everyMs: 3_600_000, ...options });
  const certificates = source(ending.signal)[Symbol.asyncIterator]();
  const next = async (): Promise<ServingCertificate | undefined> => {
    const result = await certificates.next();
    return result.done === true ? undefined : result.value;
  };
  return { next, end: () => ending.abort() };
}

describe("certificates from files", () => {
  it("are read at the start and again when the files change", async () => {
    const path = await folder();
    const [first, second] = [await pair(), await pair()];
    await put(path, first);
    const { next } = follow(path);
    expect(await next()).toEqual(first);
    const changed = next();
    await put(path, second);
    expect(await changed).toEqual(second);
  });

  it("are found when the kubelet updates a mounted Secret by replacing a symbolic link", async () => {
    const path = await folder();
    const [first, second] = [await pair(), await pair()];
    const versions = [join(path, "..v1"), join(path, "..v2")] as const;
    for (const [i, version] of versions.entries()) {
      await symlink(await folder(), version);
      await put(version, i === 0 ? first : second);
    }
    await symlink(versions[0], join(path, "..data"));
    for (const name of ["tls.crt", "tls.key"]) await symlink(join("..data", name), join(path, name));
    const { next } = follow(path);
    expect(await next()).toEqual(first);
    const changed = next();
    await symlink(versions[1], join(path, "..tmp"));
    await rename(join(path, "..tmp"), join(path, "..data"));
    expect(await changed).toEqual(second);
  });

  it("are ignored while certificate and key do not match", async () => {
    const path = await folder();
    const [first, second] = [await pair(), await pair()];
    await put(path, first);
    const problem = Promise.withResolvers<CertificateError>();
    const { next } = follow(path, { onProblem: problem.resolve });
    await next();
    const changed = next();
    await put(path, { certificate: second.certificate });
    expect((await problem.promise).message).toContain("belong together");
    await put(path, { key: second.key });
    expect(await changed).toEqual(second);
  });

  it("are polled, for file systems that cannot be watched", async () => {
    const path = await folder();
    const [first, second] = [await pair(), await pair()];
    const away = await folder();
    // The links stay unchanged and their directory is not watched: only polling detects the change.
    for (const name of ["tls.crt", "tls.key"]) await symlink(join(away, name), join(path, name));
    await put(away, first);
    const { next } = follow(path, { everyMs: 5 });
    expect(await next()).toEqual(first);
    const changed = next();
    await put(away, second);
    expect(await changed).toEqual(second);
  });

  it("name the missing file in the error", async () => {
    const path = await folder();
    await expect(follow(path).next()).rejects.toMatchObject({
      code: "WEBHOOK_CERTIFICATE",
      message: expect.stringContaining("tls.crt"),
    });
  });

  it("end when the signal aborts", async () => {
    const path = await folder();
    await put(path, await pair());
    const { next, end } = follow(path);
    await next();
    const last = next();
    end();
    expect(await last).toBeUndefined();
  });
});

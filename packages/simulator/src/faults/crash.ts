// The end of a client at its Nth write: before the server sees it, or after it acted and before the client hears. Whoever runs
// the client ends it when told (`onCrash`); until then, and for ever after, nothing it says is heard.
import { type Transport, TransportError } from "@memhog/runtime";

export interface CrashOptions {
  /** 1 for the first write (anything but a GET). */
  readonly atWrite: number;
  /** Whether the server still acts on that write. */
  readonly moment: "before" | "after";
  readonly onCrash?: () => void;
}

export interface CrashingTransport extends Transport {
  readonly crashed: boolean;
  /** Writes until now, the last one included. */
  readonly writes: number;
}

export function crashAt(transport: Transport, { atWrite, moment, onCrash }: CrashOptions): CrashingTransport {
  let writes = 0;
  let crashed = false;
  const dead = () => new TransportError("the client has crashed (a fault of the plan)", { outcome: "unknown" });
  return {
    get crashed() {
      return crashed;
    },
    get writes() {
      return writes;
    },
    request: async (request) => {
      if (crashed) throw dead();
      if (request.method !== "GET") writes += 1;
      if (request.method === "GET" || writes < atWrite) return transport.request(request);
      crashed = true;
      if (moment === "after") await transport.request(request);
      onCrash?.();
      throw dead();
    },
    close: async () => transport.close?.(),
  };
}

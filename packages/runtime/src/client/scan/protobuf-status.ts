// A refusal in protobuf: whoever asks for a list in it is told in it that there is none. Around it is the envelope that is around
// lists (protobuf-reader.ts).
import type { Status } from "../answer.ts";
import { protobufStart } from "../transport/transport.ts";
import { readMessage } from "./protobuf-object.ts";
import { Recent } from "./recent.ts";
import { structBook } from "./structs.ts";
import { whole } from "./unread.ts";

/** Not in the table: it has what is in objects, and nobody keeps one of these. */
const lines = {
  envelope: "type:type=1 status:status=2",
  type: "apiVersion:string=1 kind:string=2",
  status: "status:string=2 message:string=3 reason:string=4 details:*details=5 code:int32=6",
  details: "name:string=1 group:string=2 kind:string=3 causes:[]cause=4 retryAfterSeconds:int32=5 uid:string=6",
  cause: "reason:string=1 message:string=2 field:string=3",
};

/** The Status in these bytes; undefined: something else is. */
export function protobufStatusIn(bytes: Buffer): Status | undefined {
  const struct = structBook(lines)("envelope");
  if (struct === undefined || bytes.toString("latin1", 0, protobufStart.length) !== protobufStart) return undefined;
  const page = { buffer: bytes, turned: false, recent: new Recent() };
  const cursor = { buffer: bytes, page, at: protobufStart.length };
  const { type, status } = whole(readMessage(cursor, bytes.length, struct)) as Partial<
    Record<string, { readonly kind?: string }>
  >;
  return type?.kind === "Status" && status !== undefined ? { ...status, kind: "Status" } : undefined;
}

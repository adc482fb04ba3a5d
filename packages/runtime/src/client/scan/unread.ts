// Objects that are read when somebody looks at them. A projection looks at a tenth of a pod; of the rest (settings, mounts, probes,
// managed fields) nothing is then read but where it begins and ends, and that is most of the work that a large list makes.
//
// An unread object looks like any other: whatever is done to it first, reads it, one level; what it contains is unread in
// its turn, and until somebody asks for a part by its name, that is no more than a reader. It can be read only while the
// bytes are there, so what shall last is made `whole` before the next object comes.

type Parts = Record<PropertyKey, unknown>;

/** Under this name an unread object gives itself as an ordinary one. Nobody else can name it. */
const itself = Symbol("itself");

/** An object that is filled when somebody first looks at it. */
export function unread(reader: Reader<Record<string, unknown>>): Record<string, unknown> {
  return new Proxy<Parts>({}, reader as unknown as Reader<Parts>);
}

/** A list that is filled when somebody first looks at it. */
export function unreadList(reader: Reader<unknown[]>): unknown[] {
  return new Proxy([] as unknown as Parts, reader as unknown as Reader<Parts>) as unknown as unknown[];
}

/**
 * The same with nothing unread in it. Objects that somebody else made around unread ones are changed in place; of those that
 * were frozen there is made another, which is frozen, too.
 */
export function whole<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const object = ((value as Parts)[itself] ?? value) as Parts;
  return (completed(object) ? object : Object.freeze(whole(copyOf(object)))) as T;
}

/** False: something in it is unread, and it may not be changed. */
function completed(object: Parts): boolean {
  if (Array.isArray(object)) {
    for (let at = 0; at < object.length; at += 1) if (!makeWhole(object, at)) return false;
  } else for (const name in object) if (!makeWhole(object, name)) return false;
  return true;
}

function makeWhole<K extends PropertyKey>(parts: Record<K, unknown>, name: K): boolean {
  const part = parts[name];
  if (typeof part !== "object") return true;
  const made = whole(part instanceof Reader ? part.open() : part);
  if (made === part) return true;
  try {
    parts[name] = made;
    return true;
  } catch {
    return false;
  }
}

function copyOf(object: Parts): Parts {
  return Array.isArray(object) ? ([...(object as unknown[])] as unknown as Parts) : { ...object };
}

/** What is behind an unread object or list: it knows how to fill it. */
export abstract class Reader<T extends object> implements ProxyHandler<T> {
  #isRead = false;

  /** Called until it succeeds once. It may put readers in, in the place of what they read. */
  protected abstract fill(object: T): void;

  /** What it reads, for somebody who is about to look at it. */
  abstract open(): T;

  get(object: T, name: PropertyKey): unknown {
    this.#read(object);
    return name === itself ? object : opened(object as Parts, name);
  }

  set(object: T, name: PropertyKey, value: unknown): boolean {
    return Reflect.set(this.#read(object), name, value);
  }

  has(object: T, name: PropertyKey): boolean {
    return Reflect.has(this.#read(object), name);
  }

  ownKeys(object: T): (string | symbol)[] {
    return Reflect.ownKeys(this.#read(object));
  }

  getOwnPropertyDescriptor(object: T, name: PropertyKey): PropertyDescriptor | undefined {
    opened(this.#read(object) as Parts, name);
    return Reflect.getOwnPropertyDescriptor(object, name);
  }

  defineProperty(object: T, name: PropertyKey, how: PropertyDescriptor): boolean {
    return Reflect.defineProperty(this.#read(object), name, how);
  }

  deleteProperty(object: T, name: PropertyKey): boolean {
    return Reflect.deleteProperty(this.#read(object), name);
  }

  preventExtensions(object: T): boolean {
    return Reflect.preventExtensions(this.#read(object));
  }

  #read(object: T): T {
    if (this.#isRead) return object;
    this.fill(object); // if that fails, it fails again the next time: what could not be read is not empty
    this.#isRead = true;
    return object;
  }
}

function opened(parts: Parts, name: PropertyKey): unknown {
  const part = parts[name];
  if (!(part instanceof Reader)) return part;
  const open = part.open();
  parts[name] = open;
  return open;
}

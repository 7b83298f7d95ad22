const KIB = 1024;
const MIB = 1024 * KIB;

/** Largest message either side accepts, in bytes of UTF-8. A larger one ends the connection that carried it. */
export const MAX_MESSAGE_BYTES = 64 * MIB;

/** Largest message before a successful `initialize`, in bytes of UTF-8. A larger one ends the connection that carried it. */
export const MAX_HANDSHAKE_MESSAGE_BYTES = MIB;

/** Largest WebSocket frame, in bytes. A message of {@link MAX_MESSAGE_BYTES} therefore comes in fragments. */
export const MAX_FRAME_BYTES = 16 * MIB;

/**
 * Most JSON values in one message: each object, array and scalar counts one, keys count nothing. Bounds the memory that
 * a message of many tiny values takes once it is parsed.
 */
export const MAX_JSON_VALUES = 262_144;

/** Deepest nesting of objects and arrays in one message, the message object itself included. */
export const MAX_JSON_DEPTH = 127;

/** Longest string in a message that is no base64 of bytes, in bytes of JSON between its quotes. */
export const MAX_TEXT_BYTES = MIB;

/** Most members of one object in a message, such as the variables of a process. */
export const MAX_OBJECT_MEMBERS = 16_384;

/** Most elements of one list in a message. */
export const MAX_LIST_ELEMENTS = 65_536;

/** Largest chunk of process output in one notification, in bytes before base64. */
export const MAX_OUTPUT_CHUNK_BYTES = MIB;

/** Longest process or session id in a binary output frame, in bytes of UTF-8; its length has 16 bits there. */
export const MAX_FRAMED_ID_BYTES = 65_535;

/** Longest `handleId` of `fs/open`, in bytes of UTF-8. */
export const MAX_FILE_HANDLE_ID_BYTES = 32;

/** Most file handles one connection may hold open, and one session of those that are kept. */
export const MAX_OPEN_FILE_HANDLES = 128;

/** Largest block of `fs/readBlock` and `fs/writeBlock`, in bytes before base64; the smallest is 1. */
export const MAX_FILE_BLOCK_BYTES = MIB;

/** Largest file that `fs/readFile` returns whole, in bytes. */
export const MAX_READ_FILE_BYTES = 512 * MIB;

/** Most entries that `fs/readDirectory` returns; a directory with more is an error. */
export const MAX_DIRECTORY_ENTRIES = 50_000;

/** Highest `maxDepth` of `fs/walk`, in levels below the root. */
export const MAX_WALK_DEPTH = 64;

/** Highest `maxDirectories` of `fs/walk`. */
export const MAX_WALK_DIRECTORIES = 10_000;

/** Highest `maxEntries` of `fs/walk`, in names examined. */
export const MAX_WALK_ENTRIES = 50_000;

/** Estimated size at which a walk result is cut off and marked `truncated`, in bytes. */
export const MAX_WALK_RESPONSE_BYTES = 4 * MIB;

/** Part of {@link MAX_WALK_RESPONSE_BYTES} that each item costs beside its URI and its message, in bytes. */
export const WALK_ITEM_OVERHEAD_BYTES = 64;

/** Most paths in one `fs/watchMissing`; more are answered with `watching: false`. */
export const MAX_WATCHED_PATHS = 64;

/**
 * Longest path URI, in UTF-16 code units. A path that the kernel takes is shorter in every spelling; to read a longer one
 * is work for nothing.
 */
export const MAX_PATH_URI_LENGTH = 64 * 1024;

/** Longest `watchId` of `fs/watch`, in bytes of UTF-8. */
export const MAX_WATCH_ID_BYTES = 64;

/** Most changes in one `fs/changed`. */
export const MAX_CHANGES_PER_NOTIFICATION = 512;

/** Largest piece of an HTTP response body in one `http/request/bodyDelta`, in bytes before base64. */
export const MAX_HTTP_DELTA_BYTES = MIB;

/** Most redirects that one `http/request` follows. */
export const MAX_HTTP_REDIRECTS = 10;

/** Most roots in one `capabilityRoots/discoverV1`. */
export const MAX_CAPABILITY_ROOTS = 128;

/** Longest `shellSnapshot.scopeId`, in bytes of UTF-8; the shortest is 1. */
export const MAX_SNAPSHOT_SCOPE_BYTES = 256;

/** Longest `processId` of a process whose network decisions are asked back, in bytes of UTF-8; the shortest is 1. */
export const MAX_CALLBACK_PROCESS_ID_BYTES = 256;

/** Longest host in a `network/policyRequest`, in bytes. Longer ones are denied without asking. */
export const MAX_POLICY_HOST_BYTES = 253;

/** Longest reason in the answer to a `network/policyRequest`, in bytes. A longer one counts as a denial. */
export const MAX_POLICY_REASON_BYTES = 1024;

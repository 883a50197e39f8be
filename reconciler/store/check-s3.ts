/** What a server of the S3 protocol does with the requests on which the state relies. */
import { randomUUID } from "node:crypto";
import { probeVerdict, type StoreFinding } from "./check";
import { createBucket } from "./s3-bucket";

export async function probeBucket(
  bucketName: string,
  prefix: string,
  location: string,
): Promise<readonly StoreFinding[]> {
  const bucket = createBucket(bucketName, location);
  const key = `${prefix}/probe`;
  const first = randomUUID();
  const made = await bucket.create(key, first);
  const again = await bucket.create(key, randomUUID());
  const read = await bucket.get(key);
  const wrongTag = await bucket.replace(key, "wrong", '"00000000000000000000000000000000"');
  const rightTag = await bucket.replace(key, first, (await bucket.get(key))?.etag ?? "");
  const listed = await bucket.list(`${prefix}/`);
  const clock = (await bucket.get(key))?.ageMs;
  await bucket.remove(key);
  const gone = await bucket.get(key);
  return [
    probeVerdict(
      made && !again,
      "conditional-create",
      ["an object is created only where there is none (If-None-Match)", "two writers never get the same number"],
      [
        "an object is created over another one (If-None-Match is ignored)",
        "the state cannot be kept here: runs would overwrite each other",
      ],
    ),
    probeVerdict(
      !wrongTag && rightTag,
      "conditional-replace",
      ["an object is replaced only where it is as it was seen (If-Match)", "a lock goes to one of those who want it"],
      ["If-Match is not obeyed", "two runs may take a dead run's lock at once"],
    ),
    probeVerdict(
      read?.text === first,
      "object-after-write",
      ["an object is read as it was written, at once", "nothing is read twice"],
      ["an object is not read at once as it was written", "a run may fail, saying that its lock was taken over"],
    ),
    probeVerdict(
      listed.includes(key),
      "list-after-write",
      ["the list shows a new object at once", "a reader sees all that was recorded"],
      [
        "the list does not show a new object at once",
        "a plan may be made from an older state; it is refused where this machine saw the newer one",
      ],
    ),
    probeVerdict(
      clock !== undefined,
      "clock",
      [
        "the server says when an object was written and what time it is, by one clock",
        "a dead run's lock lapses after a minute",
      ],
      [
        "the server shows no clock, or two that contradict each other",
        "a dead run's lock lapses only once it was watched for a minute (--lock-timeout 2m), or with `state unlock`",
      ],
    ),
    probeVerdict(
      gone === undefined,
      "delete",
      ["an object that was deleted is gone", "a state does not grow without end"],
      ["an object that was deleted is still there", "former parts of the state stay, and are read around"],
    ),
  ];
}

export async function emptyPrefix(bucketName: string, prefix: string, location: string): Promise<void> {
  const bucket = createBucket(bucketName, location);
  for (const key of await bucket.list(`${prefix}/`)) await bucket.remove(key);
}

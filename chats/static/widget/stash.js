/** Files that are not sent yet, kept in the browser's database, so that they survive a reload. The memory has only
their names, without which the files cannot be read. If a browser keeps nothing, the visitor is asked for them again. */

const PATIENCE = 1000; // milliseconds; the database may never answer

export function createStash(key, memory) {
  const late = () => new Promise((done) => setTimeout(done, PATIENCE, null));
  const opened = new Promise((done, fail) => {
    const request = indexedDB.open(`chat-widget:${key}`, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("files");
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  }).catch(() => null);

  /** The result of `use` on the database; null if there is no database, or it refuses. */
  async function ask(use) {
    const database = await opened;
    // If this tab has a memory of its own, the stored files are another person's.
    if (!database || memory.isAlone()) return null;
    return new Promise((done) => {
      const request = use(database.transaction("files", "readwrite").objectStore("files"));
      request.onsuccess = () => done(request.result ?? null);
      request.onerror = (event) => (event.preventDefault(), done(null));
    }).catch(() => null);
  }

  return {
    /** Keeps the files of a draft or of a waiting message; an empty list deletes them. */
    put: (name, files) => ask((store) => (files.length ? store.put(files, name) : store.delete(name))),
    /** The files with these names, if all are there. */
    async get(name, names) {
      const files = names?.length ? await Promise.race([ask((store) => store.get(name)), late()]) : null;
      const isSame = files?.length === names?.length && files?.every((file, at) => file.name === names[at]);
      return isSame ? files : null;
    },
    clear: () => ask((store) => store.clear()),
  };
}

/** Files that are not sent yet, kept in the browser's database, so that a reload does not take them. Only their names are
in the memory: without these nobody gets the files. Where a browser keeps nothing, they are asked for again. */

const PATIENCE = 1000; // milliseconds; nobody waits longer for what may never come

export function createStash(key, memory) {
  const late = () => new Promise((done) => setTimeout(done, PATIENCE, null));
  const opened = new Promise((done, fail) => {
    const request = indexedDB.open(`chat-widget:${key}`, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("files");
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  }).catch(() => null);

  /** What `use` asks the database for; null if there is none, or it refuses. */
  async function ask(use) {
    const database = await opened;
    // What the browser keeps is another person's where this tab is alone.
    if (!database || memory.isAlone()) return null;
    return new Promise((done) => {
      const request = use(database.transaction("files", "readwrite").objectStore("files"));
      request.onsuccess = () => done(request.result ?? null);
      request.onerror = (event) => (event.preventDefault(), done(null));
    }).catch(() => null);
  }

  return {
    /** Keeps the files of a draft or of a message that waits; none forgets them. */
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

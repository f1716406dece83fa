/** Checks files that the visitor attaches, so that one that would be refused is reported at once. The server checks
again, and knows the same types (`chats/services/core/attachments.py`). */
import { t, tn } from "../common/i18n.js";
const HEAD = 4096; // bytes
// How the accepted types begin, and where.
const STARTS = [
  [0, "\x89PNG\r\n\x1a\n"], [0, "\xff\xd8\xff"], [0, "GIF87a"], [0, "GIF89a"], [8, "WEBP"], [0, "%PDF-"], [0, "ID3"],
  [0, "\xff\xfb"], [0, "OggS"], [8, "WAVE"], [4, "ftyp"], [0, "\x1aE\xdf\xa3"],
];
const OFFICE = /^PK\x03\x04[^]*(word|xl|ppt)\//;
const CONTROLS = /[\x00-\x08\x0b\x0e-\x1f]/;
const MARKUP = /^\s*<(!doctype|html|svg|\?xml|script)/i;

/** What is wrong with a file, in words; null if it is fine. */
export async function faultOf(file, { max_file_bytes: most }) {
  if (!file.size) return t("This file is empty.");
  if (file.size > most) return t("Files can be up to {size} MB.", { size: Math.floor(most / 1e6) });
  return (await isAccepted(file)) ? null : t("This file type can't be sent.");
}

async function isAccepted(file) {
  let bytes;
  try {
    bytes = new Uint8Array(await file.slice(0, HEAD).arrayBuffer());
  } catch {
    return true; // It cannot be read here, so the server decides.
  }
  const letters = String.fromCharCode(...bytes);
  if (STARTS.some(([at, start]) => letters.startsWith(start, at)) || OFFICE.test(letters)) return true;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: file.size > HEAD });
    return !CONTROLS.test(text) && !MARKUP.test(text);
  } catch {
    return false;
  }
}

/** The files with the faults of all together: too many, or too large in total. */
export function limited(entries, { max_files: count, max_request_bytes: most }) {
  const tooMany = tn("Attach up to {count} file.", "Attach up to {count} files.", count);
  const tooMuch = t("Files can be up to {size} MB in total.", { size: Math.floor(most / 1e6) });
  let sum = 0;
  return entries.map((entry, at) => {
    if (entry.fault && !entry.isOfAll) return entry;
    sum += entry.file.size;
    const fault = at >= count ? tooMany : sum > most ? tooMuch : null;
    return { ...entry, fault, isOfAll: Boolean(fault) };
  });
}

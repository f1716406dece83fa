/** Parses server-sent events from the body of an answer. */

/** The events of a stream's body, as they come; `onPart` is called for every piece, comments too. */
export async function* eventsOf(body, onPart = () => {}) {
  const whole = [];
  const parse = parser((event) => whole.push(event));
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part; !(part = await reader.read()).done; ) {
    onPart();
    parse(part.value);
    yield* whole.splice(0);
  }
}

/** A function that takes pieces of a stream and calls `emit` for each whole event (WHATWG HTML 9.2). */
function parser(emit) {
  let rest = "";
  let fields = { event: "message", id: "", data: [] };

  function take(line) {
    if (line === "") {
      if (fields.data.length) emit({ ...fields, data: JSON.parse(fields.data.join("\n")) });
      fields = { event: "message", id: "", data: [] };
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") fields.data.push(value);
    else if (name === "event" || name === "id") fields[name] = value;
  }

  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    lines.forEach(take);
  };
}

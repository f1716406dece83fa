/** Whether a key is part of composing a word, as in Vietnamese or Japanese. Safari ends the composition first, so only
the key's code shows it. */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

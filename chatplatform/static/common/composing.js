/** Whether a key belongs to a word that is composed, as in Vietnamese or Japanese. Safari ends the composition first, and
tells by the key's code alone. */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

// Unfold's script writes one file's name into a field of its own, which these forms do not have.
for (const input of document.querySelectorAll("input[type=file]")) input.hasChangeListener = true;

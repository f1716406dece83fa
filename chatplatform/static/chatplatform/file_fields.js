// Unfold's script writes the name of one file into its own field, which these forms do not have.
for (const input of document.querySelectorAll("input[type=file]")) input.hasChangeListener = true;

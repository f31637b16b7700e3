// A command in a box that scrolls, and a button that copies it.
export function command(words, text) {
  const title = document.createElement("h3"),
    box = document.createElement("pre"),
    button = document.createElement("button");
  title.textContent = words;
  box.className = "command";
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", words);
  box.textContent = text;
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${words}`);
  button.addEventListener("click", async () => {
    button.textContent = (await copied(box, text)) ? "Copied" : "Select it and copy by hand";
  });
  return [title, box, button];
}

// Where the clipboard is closed to a page (a file, an old browser) the text is selected and copied as by hand.
async function copied(box, text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(box);
    return document.execCommand("copy");
  }
}

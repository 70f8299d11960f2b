// The browser's own range input: it has a name, says its stop in words, and takes every key that a slider takes.
function render({ model, el }) {
  el.classList.add("jupyter-widgets", "widget-inline-hbox", "widget-slider", "widget-hslider");
  const label = el.appendChild(document.createElement("label"));
  const name = label.appendChild(document.createElement("span"));
  const input = label.appendChild(document.createElement("input"));
  const readout = el.appendChild(document.createElement("div"));
  label.style.cssText = "display:flex;flex:1 1 auto;align-items:center;min-width:0";
  name.className = "widget-label";
  name.style.width = model.get("label_width");
  input.type = "range";
  input.dataset.lmSuppressShortcuts = "true"; // JupyterLab's own: its arrow keys move from cell to cell, these stay here
  input.style.cssText = "flex:1 1 auto;min-width:0;margin:0 8px;accent-color:var(--jp-brand-color1)";
  readout.className = "widget-readout";

  const show = () => {
    const stops = model.get("_options_labels"), at = model.get("index");
    name.textContent = model.get("description");
    name.title = model.get("tooltip") || "";
    input.max = stops.length - 1;
    input.value = at;
    input.setAttribute("aria-valuetext", stops[at]);
    readout.textContent = stops[at];
  };
  show();
  for (const trait of ["index", "_options_labels", "description"]) model.on(`change:${trait}`, show);
  input.addEventListener("input", () => {
    model.set("index", Number(input.value));
    model.save_changes();
  });
}

export default { render };

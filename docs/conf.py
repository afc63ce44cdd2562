"""Settings of Sphinx for the site: `make docs` builds it into build/site."""

import os
import re
import runpy
from pathlib import Path

import itemix

project = "itemix"
author = "The itemix developers"
copyright = author  # noqa: A001 - the name that Sphinx asks for
version = release = itemix.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton"]
root_doc = "index"
exclude_patterns = ["results/*", "pictures/*", "gallery/stand_ins.py"]
default_role = "py:obj"
suppress_warnings = [
    "ref.python"
]  # several classes have an attribute of the name in backticks: any of them will do

html_theme = "furo"
html_title = "itemix"
html_static_path = ["_static"]
html_css_files = ["itemix.css"]
html_favicon = "_static/icon.svg"
html_theme_options = {
    "light_logo": "icon.svg",
    "dark_logo": "icon.svg",
    "light_css_variables": {"color-brand-primary": "#3557d6", "color-brand-content": "#3557d6"},
    "dark_css_variables": {"color-brand-primary": "#8fa6ff", "color-brand-content": "#8fa6ff"},
}
toc_object_entries_show_parents = "hide"
if not os.environ.get("ITEMIX_DATA"):
    stand_ins = runpy.run_path(str(Path(__file__).with_name("gallery") / "stand_ins.py"))
    folder = Path(__file__).parents[1] / "build" / "stand-ins"
    os.environ["ITEMIX_DATA"] = str(stand_ins["write"](folder))
    html_theme_options["announcement"] = "Built without the real data: the gallery has synthetic stand-ins."
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Links between pages are written as a forge shows them: to files, and to headings in its spelling.
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600

autodoc_typehints = "none"  # the docstrings say the types, and in words
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": True, "show-inheritance": False}
numpydoc_show_class_members = False  # autodoc lists them


def pages_in_order(app, name, source):  # noqa: ANN001, ANN201 - an event of Sphinx
    """Make the sidebar of the front page's lists: each heading is a part, each link to a page an entry."""
    if name != root_doc:
        return
    for part in re.split(r"^## ", source[0], flags=re.MULTILINE)[1:]:
        pages = re.findall(r"\]\(([\w/-]+)\.(?:md|ipynb)\)", part)
        caption = part.splitlines()[0]
        source[0] += "\n".join(
            ["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""]
        )


def leave_out(app, what, name, member, *rest):  # noqa: ANN001, ANN002, ANN201 - an event of Sphinx
    """Leave out what estimators inherit from scikit-learn, which documents it."""
    return True if getattr(member, "__module__", None) and member.__module__.startswith("sklearn") else None


def write_llms_txt(app, failed):  # noqa: ANN001, ANN201 - an event of Sphinx
    """Write the front page as llms.txt, where assistants look for what there is."""
    text = (Path(app.srcdir) / f"{root_doc}.md").read_text(encoding="utf-8")
    text = re.sub(r"^!\[.*\n\n|^```.*?^```\n\n", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\]\(([\w/-]+)\.(?:md|ipynb)\)", r"](\1.html)", text)
    (Path(app.outdir) / "llms.txt").write_text(text, encoding="utf-8")


def setup(app):  # noqa: ANN001, ANN201 - called by Sphinx
    """Connect the functions above to Sphinx's events."""
    app.connect("source-read", pages_in_order)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("build-finished", write_llms_txt)

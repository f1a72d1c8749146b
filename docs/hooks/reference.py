"""What the reference needs: names as code, and tables of figures behind words in the search."""

import re
from typing import Any

# Sphinx's roles, such as :func:`fit`, are not Markdown.
_ROLE = re.compile(r":(?:func|class|meth|attr|mod|data|exc):<code>~?([^<]*)</code>")
# Of pages with many repeated words, so that they do not bury those that explain them.
_BOOSTS = {"reproduction/": 0.1}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rank pages of figures last."""
    for folder, boost in _BOOSTS.items():
        if page.file.src_uri.startswith(folder):
            page.meta.setdefault("search", {"boost": boost})
    return markdown


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Leave the name and drop the role."""
    return _ROLE.sub(r"<code>\1</code>", content)

"""Show names in docstrings as code: Sphinx's roles, such as :func:`fit`, are not Markdown."""

import re
from typing import Any

_ROLE = re.compile(r":(?:func|class|meth|attr|mod|data|exc):<code>~?([^<]*)</code>")


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Leave the name and drop the role; one that is left stops nobody, but is ugly."""
    return _ROLE.sub(r"<code>\1</code>", content)

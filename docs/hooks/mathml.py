"""Turn formulas into MathML while the pages are built.

Browsers draw MathML themselves, so a page needs no script and no network to show its formulas.
"""

import html
import re
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

# What pymdownx.arithmatex leaves in generic mode: \( ... \) in a span, \[ ... \] in a div.
_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\s*\\(?P<open>[(\[])(?P<tex>.*?)\\[)\]]\s*</(?P=tag)>',
    re.DOTALL,
)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Replace every formula of a page; one that cannot be read stops the build."""

    def mathml(match: re.Match[str]) -> str:
        tex = html.unescape(match["tex"]).strip()
        try:
            return convert(tex, display="inline" if match["open"] == "(" else "block")
        except Exception as error:
            place = page.file.src_uri
            raise PluginError(f"{place}: cannot read the formula {tex!r} ({error!r})") from error

    converted = _FORMULA.sub(mathml, content)
    if 'class="arithmatex"' in converted:
        raise PluginError(f"{page.file.src_uri}: a formula was left unconverted")
    return converted

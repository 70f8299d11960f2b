"""The arrow of a drop-down list, light where the theme is dark: ipywidgets draws it dark in every theme."""

from __future__ import annotations

from typing import Any

import ipywidgets

_ARROW = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 18 18'%3E"
    "%3Cpath d='M5 7l4 4 4-4' fill='none' stroke='%23e0e0e0' stroke-width='1.5'/%3E%3C/svg%3E"
)
# JupyterLab says on the page which kind of theme it has; ipywidgets takes the arrow from this variable.
_STYLE = (
    '<style>[data-jp-theme-light="false"] .widget-dropdown > select {'
    f'--jp-widgets-dropdown-arrow: url("{_ARROW}")'
    "}</style>"
)


def light_arrow() -> Any:
    """A widget without extent, to be shown beside drop-down lists."""
    return ipywidgets.HTML(_STYLE, layout={"display": "none"})

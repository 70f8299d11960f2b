"""Explorers of the course: sliders around the figures. What they show is computed elsewhere in llmserving."""

from llmserving.explorers.hbm import HbmExplorer, hbm_explorer

__all__ = ["HbmExplorer", "hbm_explorer"]

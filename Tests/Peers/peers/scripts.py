"""The tools that are Python without an extension, as modules."""

import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

TOOLS = Path(__file__).parent.parent.parent.parent / "tools"


def load(name: str) -> ModuleType:
    """The tool of this name. Its `main` is not called."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(TOOLS / name))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module

"""The report page, which the command writes."""
from __future__ import annotations

import html
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ._errors import refuse
from ._library import encoded, library, text
from ._model import Comparison, Model, Source, _split
from ._options import Inputs, Value, overrides_text, real


class Page(str):
    """A page of HTML, which Jupyter draws and `save` writes. `status` is the exit status of the command, 0 if nothing failed."""

    status: int = 0

    def save(self, path: str | os.PathLike[str]) -> None:
        pathlib.Path(path).write_text(self, encoding="utf-8")

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self)}" width="100%" height="600"></iframe>'


def _commands() -> Iterator[str | None]:
    """The places to look for the command: named by the environment, installed with the package, next to the library, in the same prefix, on the path."""
    yield os.environ.get("DAEDAL_COMMAND")
    yield os.path.join(sysconfig.get_path("scripts"), "daedal")
    yield os.path.join(os.path.dirname(sys.executable), "daedal")
    if "DAEDAL_LIBRARY" in os.environ:
        yield os.path.join(os.path.dirname(os.environ["DAEDAL_LIBRARY"]), "daedal")
    for parent in pathlib.Path(__file__).resolve().parents:
        yield str(parent / "build" / "daedal")
        yield str(parent / "bin" / "daedal")
    yield shutil.which("daedal")


def _command() -> str:
    for candidate in _commands():
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise FileNotFoundError("the command daedal was not found; set DAEDAL_COMMAND to its path")


def _words(name: str, value: Any) -> list[str]:
    """An option of the command."""
    option = "--" + {"invariants": "invariant"}.get(name, name).replace("_", "-")
    if name == "absolute_tolerances":
        return ["--absolute-tolerance", ",".join(f"'{key}'={real(key, number)!r}" for key, number in value.items())]
    if name in ("t_eval", "on_event"):
        raise refuse(f"a report takes no {name}")
    if isinstance(value, bool):
        return [option] if value else []
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = ",".join(str(one) for one in value)
    return [option, str(value)]


def _model_words(model: Model, folder: str) -> list[str]:
    """The arguments that name the model on the command line: its file, or a new file in the folder with its text."""
    path, class_name, modelica_path, readable, limits = model._origin
    words: list[str] = []
    if path is not None and os.path.exists(path):
        words.append(os.fsdecode(path))
    elif path is not None:
        place = os.path.join(folder, os.path.basename(os.fsdecode(path)))
        place += "" if place.endswith(".cir") else ".mo"
        pathlib.Path(place).write_bytes(library.model_text(model._handle))
        words.append(place)
    words += ["--model", text(class_name)] if class_name else []
    for option, directories in (("--library", modelica_path), ("--allow-read", readable)):
        for directory in os.fsdecode(directories or b"").split(":"):
            words += [option, directory] if directory else []
    given = [f"{name}={limit}" for name, limit in zip(("memory", "work", "text"), limits) if limit]
    words += ["--limits", ",".join(given)] if given else []
    words += ["--energy"] if model._energy else []
    return words + (["--boundary", text(model._boundary)] if model._boundary else [])


def report(source: Source, parameters: Mapping[str, Value] | None = None, *, class_name: str | None = None,
           libraries: Iterable[str | os.PathLike[str]] = (), inputs: str | None = None, animate: str | None = None,
           compare: bool = False, **keywords: Any) -> Page:
    """One HTML page about a model and its run, as `daedal report` writes it. Keywords are those of daedal.simulate.

    >>> page = report("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;", stop_time=2)
    >>> page.status, "<html" in page
    (0, True)

    `page.save("report.html")` writes it. `animate="0,0;x,y"` adds a moving picture, `compare=True` a comparison of the methods. `inputs` is a
    text as for `--input`. A run that fails has a page as well, with its `status`.
    """
    model = source if isinstance(source, Model) else Model(source, class_name, libraries)
    values, options = _split(model, parameters, keywords)
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "report.html")
        words = [_command(), "report", *_model_words(model, folder), "--html", place]
        words += ["--override", overrides_text(values).decode()] if values else []
        words += ["--input", encoded(inputs).decode()] if inputs else []
        words += ["--animate", animate] if animate else []
        words += ["--compare"] if compare else []
        for name, value in options.items():
            words += _words(name, value) if value is not None else []
        done = subprocess.run(words, capture_output=True, text=True, cwd=None)
        if not os.path.exists(place):
            raise refuse(done.stderr.strip() or f"daedal report ended with status {done.returncode}")
        page = Page(pathlib.Path(place).read_text(encoding="utf-8"))
    page.status = done.returncode
    return page


def compare(source: Source, methods: Iterable[str] | str | None = None, solvers: Iterable[str] | str | None = None,
            parameters: Mapping[str, Value] | None = None, *, class_name: str | None = None,
            inputs: Inputs | None = None, **keywords: Any) -> Comparison:
    """Methods and solvers side by side on one model, as `Model.compare`.

    >>> text = "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;"
    >>> [run["status"] for run in compare(text, "dummy", ["radau", "bdf"]).runs]
    ['ok', 'ok']
    """
    model = source if isinstance(source, Model) else Model(source, class_name)
    return model.compare(methods, solvers, parameters, inputs=inputs, **keywords)

"""An invented engine that calls itself sglang: modules that the worker can run, with a torch to believe in."""

from __future__ import annotations

from pathlib import Path

_ARGUMENTS = """
import dataclasses, os, signal, subprocess, time
import torch

if os.environ.get("FAKE_IMPORT") == "raise":
    import a_library_that_is_missing
if os.environ.get("FAKE_IMPORT") == "die":
    os._exit(7)
if os.environ.get("FAKE_IMPORT") == "hang":
    time.sleep(3600)
print("talk of the engine, on standard output")


def memory():
    if torch.version.hip:
        words = "rocminfo | grep Size: | awk '{print $2}'"
        text = subprocess.run(words, shell=True, capture_output=True, text=True).stdout
        return float(text.split("(")[0]) / 1024
    asked = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    return min(map(float, subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()))


@dataclasses.dataclass
class ServerArgs:
    model_path: str
    speculative_draft_model_path: str = None
    attention_backend: str = None
    disable_radix_cache: bool = False
    graph_sizes: list = dataclasses.field(default_factory=list)
    lora_modules: list = None
    mem_fraction_static: float = None
    nnodes: int = 1
    page_size: int = None
    speculative_algorithm: str = None
    tp_size: int = 1
    uses_pages: bool = False
    {construction}

    def override(self, name, value, by):
        {write}

    def resolve(self):
        choose_backend(self)
        choose_page(self)
        check_draft(self)

    def check_server_args(self):
        check_tp(self)


def choose_backend(args):
    if args.attention_backend is None:
        hopper = torch.version.cuda is not None and torch.cuda.get_device_capability()[0] == 9
        args.override("attention_backend", "fa3" if hopper else "triton", "choose_backend")


def choose_page(args):
    if args.page_size == 0:
        raise ValueError("a page holds at least one token")
    if args.page_size == 666:
        os.kill(os.getpid(), signal.SIGSEGV)
    if args.page_size == 667:
        time.sleep(3600)
    if args.page_size == 668:
        os.kill(os.getppid(), signal.SIGKILL)
    if args.page_size is None:
        default = 1 if args.disable_radix_cache else 64
        args.override("page_size", int(os.environ.get("SGLANG_PAGE", default)), "choose_page")
        os.environ["SGLANG_PAGED"] = "1"
    args.override("uses_pages", True, "choose_page")
    if args.mem_fraction_static is None:
        args.override("mem_fraction_static", round(1 - 8192 / memory(), 3), "choose_page")
    if args.resolved("page_size") % 16 == 0 and not args.graph_sizes:
        args.override("graph_sizes", list(range(1, 15)), "choose_page")


def check_draft(args):
    if args.speculative_algorithm == "EAGLE" and args.speculative_draft_model_path is None:
        raise ValueError("no draft")


def check_tp(args):
    assert args.tp_size <= torch.cuda.device_count() * args.nnodes, "too few devices"
"""
_LATE = """
    def resolve_once(self):
        self._raw_input = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        self._resolved_overrides = []
        self.resolve()

    def resolved(self, name):
        for _, fields in reversed(self._resolved_overrides):
            if name in fields:
                return fields[name]
        return getattr(self, name)
"""
_EARLY = """
    def __post_init__(self):
        self.resolve()

    def resolved(self, name):
        return getattr(self, name)
"""
_OVERRIDES = """
def resolution_result(args, name, default=None):
    return args.resolved(name)
"""
_TORCH = """
import types
version = types.SimpleNamespace(cuda=None, hip=None)
cuda = types.SimpleNamespace(device_count=lambda: 0, get_device_capability=lambda: None)
xpu = types.SimpleNamespace()
cpu = types.SimpleNamespace()
"""


def write_engine(folder: Path, version: str = "0.5.23") -> Path:
    """Write the engine of *version* and return the folder that holds its package."""
    late = version > "0.5.19"
    text = _ARGUMENTS.replace("{construction}", _LATE if late else _EARLY)
    write = "self._resolved_overrides.append((by, {name: value}))" if late else "setattr(self, name, value)"
    files = {
        "sglang/__init__.py": "",
        "sglang/version.py": f"__version__ = {version!r}\n",
        "sglang/srt/__init__.py": "",
        "sglang/srt/server_args.py": text.replace("{write}", write),
        "sglang/srt/arg_groups/__init__.py": "",
        "sglang/srt/arg_groups/overrides.py": _OVERRIDES if late else "",
        "torch/__init__.py": _TORCH,
        "torch/library.py": "",
    }
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
    return folder

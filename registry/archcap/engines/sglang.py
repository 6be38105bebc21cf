"""SGLang in code: its launch command, the level of a config it reads, and the numeric functions its rules call.

Read from the releases' sources, never imported from them. What changed between releases is decided here by release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from archcap.engines import Function, Launch, Options, ReadFlagsFile
from archcap.engines.flags import flags_file_words, format_flags, parse_flags, shell_text
from archcap.engines.sglang_graphs import FUNCTIONS as GRAPH_FUNCTIONS
from archcap.engines.sglang_layers import FUNCTIONS as LAYER_FUNCTIONS
from archcap.engines.shell import launch_of
from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.engine import SettingSpan
from archcap.model.releases import version

_WANTED = "python -m sglang.launch_server --model-path MODEL …, or: sglang serve MODEL …"
_LEVELS = ("thinker_config", "llm_config", "language_config", "text_config")
_LEVELS_0_5_9 = ("text_config", "llm_config", "language_config", "thinker_config")
_SHARED = ("pad_token_id", "bos_token_id", "eos_token_id", "tie_word_embeddings")
_MERGED = ("rope_scaling", "rope_parameters")
_OUTER_ONLY = frozenset({"model_type", "architectures", "auto_map", "dtype", "torch_dtype", *_MERGED})
"""Fields that every configuration has by itself."""


@dataclass(frozen=True, slots=True)
class SGLang:
    """SGLang as one release of it behaves; None is the newest known behaviour."""

    release: str | None = None

    @property
    def functions(self) -> Mapping[str, Function]:
        """Pure functions that rules may call, by name."""
        return FUNCTIONS

    def text_config_of(self, config: JsonObject) -> JsonObject:
        """Return the level of *config* that describes the language model; *config* itself when it has no levels.

        Source:
            sglang@0.5.23:srt/utils/hf_transformers/common.py:get_hf_text_config; the order of the levels is another in
            0.5.9 (srt/utils/hf_transformers_utils.py).
        """
        if _reads_outer_level(config):
            return config
        for name in _LEVELS_0_5_9 if self._before("0.5.10") else _LEVELS:
            level = config.get(name)
            if isinstance(level, dict):
                inner = level.get("text_config") if name == "thinker_config" else None
                text = inner if isinstance(inner, dict) else level
                return text if self._before("0.5.10") else _with_shared(text, config)
        return config

    def outer_config_of(self, config: JsonObject, text: JsonObject) -> JsonObject:
        """Return *config* with what the engine copies into it from its *text* level: what it does not have itself.

        Source:
            sglang@0.5.23:srt/utils/hf_transformers/config.py:HfModelConfigParser.parse; the same in 0.5.9
            (srt/utils/hf_transformers_utils.py:get_config).
        """
        copied = {name: value for name, value in text.items() if value is not None and name not in _OUTER_ONLY}
        return {**copied, **config}

    def effective_config(self, config: JsonObject, settings: Mapping[str, Json]) -> JsonObject:
        """Return *config* with `json_model_override_args` merged in.

        A mapping replaced the whole level of that name before 0.5.17; since then it is merged into it.

        Raises:
            RequestError: `bad-config-override`, when the override is no JSON object.
        Source:
            sglang@0.5.23:srt/utils/hf_transformers/config.py:get_config
        """
        override = _override(settings.get("json_model_override_args"))
        if not override:
            return config
        merged = dict(config)
        for name, value in override.items():
            current = config.get(name)
            deep = isinstance(value, dict) and isinstance(current, dict) and not self._before("0.5.17")
            if deep and isinstance(value, dict) and isinstance(current, dict) and _is_level(name, current):
                merged[name] = {**current, **value}
            else:
                merged[name] = value
        return merged

    def parse_command(
        self, words: Sequence[str], options: Options, read_flags_file: ReadFlagsFile | None = None
    ) -> Launch:
        """Read a launch command; see `EngineSupport.parse_command`.

        Source:
            sglang@0.5.23:cli/serve.py, srt/server_args.py:prepare_server_args
        """
        env, flags = launch_of(words, _after_start, _WANTED)
        expanded, file_notes = self._with_flags_file(_serve_words(flags), options, read_flags_file)
        launch = parse_flags(expanded, options, "sglang")
        return replace(launch, env=env, notes=(*file_notes, *launch.notes))

    def format_command(
        self, settings: Mapping[str, Json], spans: Mapping[str, SettingSpan], launch: Sequence[str]
    ) -> str:
        """Return the shell command that asks for *settings*; see `EngineSupport.format_command`."""
        words, unsaid = format_flags(settings, spans)
        return shell_text([*launch, *words], unsaid)

    def _before(self, release: str) -> bool:
        return self.release is not None and version(self.release) < version(release)

    def _with_flags_file(
        self, words: list[str], options: Options, read: ReadFlagsFile | None
    ) -> tuple[list[str], tuple[str, ...]]:
        """Put the words of the `--config` file in front, where the command's own flags win over them.

        Source:
            sglang@0.5.23:srt/utils/server_args_config_parser.py:ConfigArgumentMerger
        """
        places = [index for index, word in enumerate(words) if word == "--config"]
        if not places:
            return words, ()
        if len(places) > 1 or places[0] == len(words) - 1:
            raise RequestError("bad-flags-file", "--config takes one YAML file, once", "as in: --config launch.yaml")
        path = words[places[0] + 1]
        if PurePath(path).suffix.lower() not in (".yaml", ".yml"):
            raise RequestError("bad-flags-file", f"--config takes a YAML file, not {path!r}", "name it .yaml")
        if read is None:
            problem = f"the command reads further flags from {path!r}, which is not given"
            raise RequestError("bad-flags-file", problem, "write its flags into the command instead")
        nested_json = version(options.release) >= version("0.5.14")
        found = flags_file_words(read(path), options.spans, nested_json)
        rest = [*words[: places[0]], *words[places[0] + 2 :]]
        return [*found, *rest], (f"flags read from {path}",)


def make(release: str | None) -> SGLang:
    """Return SGLang as *release* behaves."""
    return SGLang(release)


# Configs --------------------------------------------------------------------------------------------------------------


def _reads_outer_level(config: JsonObject) -> bool:
    """Return whether the engine ignores the nested levels: the LLaVA classes that wrap a text-only class."""
    names = config.get("architectures")
    name = names[0] if isinstance(names, list) and names else None
    return isinstance(name, str) and name.startswith("Llava") and name.endswith("ForCausalLM")


def _with_shared(text: JsonObject, outer: JsonObject) -> JsonObject:
    """Return *text* with the few keys that the engine copies from the outer level when only that has them."""
    missing = {name: outer[name] for name in _SHARED if name in outer and name not in text}
    return {**text, **missing} if missing else text


def _is_level(name: str, current: JsonObject) -> bool:
    return name in _MERGED or name.endswith("_config") or "model_type" in current


def _override(given: Json) -> JsonObject:
    if given is None or given == "{}" or given == {}:
        return {}
    try:
        value = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError) as error:
        raise _bad_override(str(error)) from error
    if not isinstance(value, dict):
        raise _bad_override(f"it is a {type(value).__name__}")
    return value


def _bad_override(what: str) -> RequestError:
    hint = 'as in: {"max_position_embeddings": 65536}'
    return RequestError("bad-config-override", f"json_model_override_args is no JSON object: {what}", hint)


# Commands -------------------------------------------------------------------------------------------------------------


def _after_start(words: Sequence[str]) -> int | None:
    """Return the index of the first word after what starts the server, None when it is not started.

    The word `serve` of `sglang serve` is kept apart by `_serve_words`.
    """
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        if word == "-m" and following == "sglang.launch_server":
            return index + 2
        if word.endswith("sglang/launch_server.py"):
            return index + 1
        if following == "serve" and (PurePath(word).name == "sglang" or word == "sglang.cli.main"):
            return index + 1
    return None


def _serve_words(words: list[str]) -> list[str]:
    """Return the server's flags of `sglang serve [MODEL] …`; other launches pass unchanged."""
    if not words or words[0] != "serve":
        return words
    flags: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word != "--model-type" and not word.startswith("--model-type="):
            flags.append(word)
        elif (kind := next(rest, "") if word == "--model-type" else word.split("=", 1)[1]) not in ("auto", "llm"):
            raise RequestError("no-launch", f"`--model-type {kind}` starts another server", "give a language model's")
    return ["--model-path", *flags] if flags and not flags[0].startswith("-") else flags


# Functions of rules ---------------------------------------------------------------------------------------------------


def pipeline_layers(layers: int, ranks: int, partition: Sequence[int] | None = None) -> list[range]:
    """Return the layers each pipeline rank holds.

    Args:
        layers: number of decoder layers, >= 0.
        ranks: pipeline size, >= 1.
        partition: layers per rank, overriding the even split; must have one entry per rank and sum to *layers*.
    Returns:
        One half-open range per rank, in rank order, covering [0, layers). Of an uneven split the last ranks hold one
        layer more.
    Raises:
        ValueError: the partition does not fit, or there is no rank.
    Source:
        sglang@0.5.23:srt/distributed/utils.py:get_pp_indices (the same split since 0.5.9)
    """
    if ranks < 1 or layers < 0:
        raise ValueError(f"cannot split {layers} layers over {ranks} ranks")
    if partition is None:
        base, more = divmod(layers, ranks)
        partition = [base + (rank >= ranks - more) for rank in range(ranks)]
    if len(partition) != ranks:
        raise ValueError(f"the partition names {len(partition)} ranks, the pipeline has {ranks}")
    if sum(partition) != layers:
        raise ValueError(f"the partition holds {sum(partition)} layers, the model has {layers}")
    starts = [sum(partition[:rank]) for rank in range(ranks)]
    return [range(start, start + count) for start, count in zip(starts, partition, strict=True)]


def parse_partition(text: str | None) -> list[int] | None:
    """Return the layers per rank that `SGLANG_PP_LAYER_PARTITION` spells, None when it is not set.

    Raises:
        ValueError: it is no list of whole numbers.
    Source:
        sglang@0.5.23:srt/distributed/utils.py:get_pp_indices
    """
    return None if text is None else [int(count) for count in text.split(",")]


def _pipeline_bounds(layers: int, ranks: int, partition: str | None = None) -> Json:
    """`pipeline_layers` for rules: the partition as the environment spells it, ranges as [start, end] pairs."""
    return [[held.start, held.stop] for held in pipeline_layers(layers, ranks, parse_partition(partition))]


FUNCTIONS: Mapping[str, Function] = {"pipeline_layers": _pipeline_bounds, **LAYER_FUNCTIONS, **GRAPH_FUNCTIONS}

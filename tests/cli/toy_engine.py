"""The invented engine in code: configs have one nested level, flags are argparse's."""

from dataclasses import dataclass, replace

from archcap.engines.flags import format_flags, parse_flags, shell_text
from archcap.engines.shell import launch_of


def start(words):
    return words.index("toy.serve") + 1 if "toy.serve" in words else None


@dataclass(frozen=True)
class Toy:
    functions = {}

    def text_config_of(self, config):
        inner = config.get("text_config")
        return inner if isinstance(inner, dict) else config

    def outer_config_of(self, config, text):
        return config

    def effective_config(self, config, settings):
        return config

    def parse_command(self, words, options, read_flags_file=None):
        env, flags = launch_of(words, start, "python -m toy.serve FLAGS")
        return replace(parse_flags(flags, options, "toy"), env=env)

    def format_command(self, settings, spans, launch):
        words, unsaid = format_flags(settings, spans)
        return shell_text([*launch, *words], unsaid)


def make(release):
    return Toy()

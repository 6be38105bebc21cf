"""What every record shares: frozen, strict about types and closed to unknown keys.

Knows nothing of files; `archcap.load` adds the places that errors name.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, StringConstraints
from typing_extensions import TypeAliasType

JsonScalar: TypeAlias = None | bool | int | float | str
Json = TypeAliasType("Json", "JsonScalar | list[Json] | dict[str, Json]")
JsonObject: TypeAlias = dict[str, Json]

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=120)]
"""A name that can stand bare in an expression: a setting, fact, capability or step."""

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.:@/+#-]*$", max_length=200)]
"""A dotted identifier: a list, a rule, a piece of hardware, a checkpoint."""

Text = Annotated[str, StringConstraints(min_length=1, max_length=4000)]


class Record(BaseModel):
    """Base of all records: frozen, strict, no unknown keys, no surprises."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", populate_by_name=True)

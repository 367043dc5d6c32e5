"""The base of all typed settings: sections of recipes, sizes of networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Typed, frozen, no unknown keys, no infinities.

    The text below a field becomes its description in `rookery recipes NAME`.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
        use_attribute_docstrings=True,
    )
    RENAMED: ClassVar[Mapping[str, str]] = {}
    """Former names of fields, which older recipes and run folders use -> present names."""

    @classmethod
    def section(cls, name: str) -> type[Section] | None:
        """The section that a field holds; None for a value, or where there is no such field."""
        field = cls.model_fields.get(name)
        kind = field.annotation if field is not None else None
        return kind if isinstance(kind, type) and issubclass(kind, Section) else None

    @classmethod
    def present_names(cls, content: Mapping[str, Any]) -> dict[str, Any]:
        """Content, not yet validated, with the present names of its fields at all levels."""
        present: dict[str, Any] = {}
        for key, value in content.items():
            name = cls.RENAMED.get(key, key)
            if name in present:
                former = next(old for old, new in cls.RENAMED.items() if new == name)
                raise ValueError(f"{former!r} is the former name of {name!r}; give only one")
            section = cls.section(name)
            if section is not None and isinstance(value, Mapping):
                value = section.present_names(value)
            present[name] = value
        return present

    @classmethod
    def present_key(cls, key: str) -> str:
        """The same for one dotted key, such as `tdleaf.batch`."""
        first, dot, rest = key.partition(".")
        name = cls.RENAMED.get(first, first)
        section = cls.section(name)
        return f"{name}{dot}{section.present_key(rest) if section else rest}"

"""Base class of typed settings: sections of recipes and sizes of networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

LARGEST = (1 << 31) - 1  # an int of the native code


class Section(BaseModel):
    """Strictly typed and frozen; refuses unknown keys, NaN, infinities and huge integers.

    A field may hold integers beyond `LARGEST` if it states its own upper bound (`le` or `lt`).
    The docstring below a field is its description in `rookery recipes NAME`.
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
    """Former field names, still found in older recipes and run folders -> current names."""

    @field_validator("*")
    @classmethod
    def _check_integers(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse integers that native code could not take, also within lists."""
        stated = cls.model_fields[str(info.field_name)].metadata
        if any(hasattr(bound, "le") or hasattr(bound, "lt") for bound in stated):
            return value
        for number in value if isinstance(value, list | tuple) else (value,):
            if isinstance(number, int) and abs(number) > LARGEST:
                limit = f"at most {LARGEST}" if number > 0 else f"at least {-LARGEST}"
                raise ValueError(f"whole numbers must be {limit}")
        return value

    @classmethod
    def section(cls, name: str) -> type[Section] | None:
        """The type of a field that is itself a section; None for any other name."""
        field = cls.model_fields.get(name)
        kind = field.annotation if field is not None else None
        return kind if isinstance(kind, type) and issubclass(kind, Section) else None

    @classmethod
    def present_names(cls, content: Mapping[str, Any]) -> dict[str, Any]:
        """Unvalidated content with former field names replaced, at all levels."""
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
        """A dotted key, such as `tdleaf.batch`, with former field names replaced."""
        first, dot, rest = key.partition(".")
        name = cls.RENAMED.get(first, first)
        section = cls.section(name)
        return f"{name}{dot}{section.present_key(rest) if section else rest}"

"""The base of all typed settings: sections of recipes, sizes of networks."""

from __future__ import annotations

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

"""Rotary embedding of a config.json: `rope_parameters` (since Transformers 5) or `rope_theta` with `rope_scaling`."""

from .config import RopeConfig
from .errors import CheckpointError
from .fields import Fields, shorten

VARIANTS = ("default", "linear", "llama3", "yarn")


def read_rope(fields: Fields, default_theta: float = 10000.0) -> RopeConfig:
    """The one rotary embedding of all layers."""
    section = fields.section("rope_parameters") or fields.section("rope_scaling")
    return _rope(fields, section, fields.number("rope_theta", default_theta))


def read_gemma_rope(fields: Fields) -> tuple[RopeConfig, RopeConfig]:
    """(full layers, sliding layers): nested by layer type, or rope_theta, rope_scaling and rope_local_base_freq."""
    theta, local_theta = fields.number("rope_theta", 1_000_000.0), fields.number("rope_local_base_freq", 10_000.0)
    nested = fields.section("rope_parameters")
    if nested is None:
        return _rope(fields, fields.section("rope_scaling"), theta), RopeConfig(theta=local_theta)
    full, local = nested.section("full_attention"), nested.section("sliding_attention")
    if full is None and local is None:
        return _rope(fields, nested, theta), RopeConfig(theta=local_theta)
    return _rope(fields, full, theta), _rope(fields, local, local_theta)


def _rope(fields: Fields, section: Fields | None, theta: float) -> RopeConfig:
    if fields.number("partial_rotary_factor", 1.0) != 1.0:
        raise fields.wrong("partial_rotary_factor", "1.0: partly rotated heads are not supported")
    if section is None:
        return RopeConfig(theta=theta)
    if section.number("partial_rotary_factor", 1.0) != 1.0:
        raise section.wrong("partial_rotary_factor", "1.0: partly rotated heads are not supported")
    theta = section.number("rope_theta", theta)
    variant = section.text("rope_type", section.text("type", "default"))
    positions = fields.integer("max_position_embeddings")
    original = section.optional_integer("original_max_position_embeddings") or positions
    match variant:
        case "default":
            return RopeConfig(theta=theta)
        case "linear":
            return RopeConfig(theta=theta, variant="linear", factor=section.number("factor"))
        case "llama3":
            low, high = section.number("low_freq_factor"), section.number("high_freq_factor")
            if low >= high:
                raise section.wrong("low_freq_factor", f"less than high_freq_factor ({high})")
            return RopeConfig(
                theta=theta,
                variant="llama3",
                factor=section.number("factor"),
                original_max_positions=original,
                low_freq_factor=low,
                high_freq_factor=high,
            )
        case "yarn":
            return RopeConfig(
                theta=theta,
                variant="yarn",
                factor=section.number("factor", positions / original),
                original_max_positions=original,
                beta_fast=section.number("beta_fast", 32.0),
                beta_slow=section.number("beta_slow", 1.0),
                attention_factor=section.optional_number("attention_factor"),
                mscale=section.optional_number("mscale", positive=False),
                mscale_all_dim=section.optional_number("mscale_all_dim", positive=False),
                truncate=section.boolean("truncate", True),
            )
    raise CheckpointError(
        section.path, f"rope_type {shorten(variant)} is not supported", f"the native engine knows {', '.join(VARIANTS)}"
    )

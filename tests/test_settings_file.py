"""settings.toml: bounds, unknown keys, order of strength, and that the rendered files are fresh."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphrag.errors import SettingsError
from graphrag.settings_file import all_keys, find_root, load_settings, render_settings_page, render_template

from .conftest import ROOT
from .generate_docs import SAMPLE_VALUES


def project(tmp_path: Path, text: str) -> Path:
    (tmp_path / "settings.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_template_is_valid_and_holds_every_default(tmp_path: Path) -> None:
    settings, warnings = load_settings(project(tmp_path, render_template()), environ={})
    assert warnings == []
    assert settings == load_settings(project(tmp_path, ""), environ={})[0]


def test_settings_of_this_repository_hold_every_key_with_its_comment() -> None:
    assert (ROOT / "settings.toml").read_text(encoding="utf-8") == render_template(SAMPLE_VALUES)


def test_docs_page_is_fresh() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == render_settings_page(), 'run "make docs"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[text_units]\nmax_tokenz = 300",
            'unknown key "text_units.max_tokenz". Did you mean "text_units.max_tokens"?',
        ),
        ("[text_unitz]\nmax_tokens = 300", 'unknown key "text_unitz". Did you mean "text_units"?'),
        ('[text_units]\nmax_tokens = "many"', 'text_units.max_tokens should be a valid integer, got "many".'),
        ("[text_units]\nmax_tokens = -5", "text_units.max_tokens must be between 16 and 8000, got -5."),
        (
            "[text_units]\noverlap = 300",
            "text_units.overlap must be smaller than text_units.max_tokens (300), got 300.",
        ),
        ("[gates]\nfailed_share = 7.0", "gates.failed_share must be between 0 and 1, got 7.0."),
        ("[routing]\nthreshold = 7", "settings.toml: routing.threshold must be between -1 and 1, got 7."),
        ("[fold]\nprotect = -1", "fold.protect should be greater than or equal to 0, got -1."),
        ('[llm]\nmodel = ""', 'llm.model should have at least 1 character, got "".'),
        ("[llm]\nprice = [0.4]", "llm.price needs two numbers"),
        ("[llm]\nprice = [0.4, -1.6]", "llm.price.1 should be greater than or equal to 0, got -1.6."),
        ('[llm]\nextract_model = "openai/x"', "llm.extract_model has no effect while llm.model is embedded."),
        (
            '[llm]\nmodel = "replay:r.jsonl"\nextract_model = "openai/x"',
            "llm.extract_model has no effect while llm.model is replay:r.jsonl.",
        ),
        (
            '[llm]\nmodel = "replay:r.jsonl"\n[embeddings]\nmodel = "openai/x"',
            'a recording holds no vectors of "openai/x". Use embedded or none.',
        ),
        ('[llm]\napi_key_env = "sk-123-456"', "llm.api_key_env should match pattern"),
        ('[embeddings]\nmodel = ""', 'embeddings.model should have at least 1 character, got "".'),
        ('[embeddings]\nmodel = "minilmm"', 'no embedding model "minilmm".'),
        ('[embeddings]\nmodel = "openai/text-embedding-3-small"', "is a service. Set llm.model too."),
        ("[input\n", "(at line 1, column 7)."),
    ],
)
def test_bad_values_are_one_line_that_says_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(project(tmp_path, text), environ={})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_provider_keys_are_refused_and_never_shown(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="Keys come from the environment") as caught:
        load_settings(project(tmp_path, '[llm]\napi_key = "sk-very-secret"'), environ={})
    assert "sk-very-secret" not in str(caught.value)
    with pytest.raises(SettingsError) as caught:
        load_settings(project(tmp_path, '[llm]\napi_key_env = "sk-very-secret"'), environ={})
    assert "sk-very-secret" not in str(caught.value)


def test_every_role_may_name_its_own_model(tmp_path: Path) -> None:
    settings, _ = load_settings(project(tmp_path, '[llm]\nmodel = "openai/a"\njudge_model = "openai/b"'), environ={})
    assert settings.llm.role_models() == {"judge": "openai/b"}
    assert load_settings(tmp_path, overrides=["llm.price=[1, 2.5]"], environ={})[0].llm.price == [1.0, 2.5]


def test_flags_beat_environment_beats_file(tmp_path: Path) -> None:
    root = project(tmp_path, "\ufeff[text_units]\nmax_tokens = 100\noverlap = 5")
    environ = {"GRAPHRAG_TEXT_UNITS__MAX_TOKENS": "200", "GRAPHRAG_INPUT__DIR": "notes"}
    settings, _ = load_settings(root, overrides=["text_units.max_tokens=400"], environ=environ)
    assert (settings.text_units.max_tokens, settings.text_units.overlap) == (400, 5)
    assert settings.input.dir == "notes"


def test_faults_of_a_flag_name_the_flag_and_text_keys_take_any_text(tmp_path: Path) -> None:
    root = project(tmp_path, "")
    with pytest.raises(SettingsError, match=r"^--set: search\.top should be"):
        load_settings(root, overrides=["search.top=0"], environ={})
    assert load_settings(root, overrides=["output.dir=2026"], environ={})[0].output.dir == "2026"


def test_unknown_variables_warn_and_malformed_flags_fail(tmp_path: Path) -> None:
    root = project(tmp_path, "")
    _, warnings = load_settings(root, environ={"GRAPHRAG_TEXT_UNITS__MAX_TOKENZ": "1", "GRAPHRAG_HOME": "x"})
    assert warnings == [
        "GRAPHRAG_TEXT_UNITS__MAX_TOKENZ is not a setting and was ignored. "
        'Did you mean "GRAPHRAG_TEXT_UNITS__MAX_TOKENS"?'
    ]
    with pytest.raises(SettingsError, match=r"needs section\.key=value"):
        load_settings(root, overrides=["text_units.max_tokens"], environ={})
    with pytest.raises(SettingsError, match=r'"max_tokens" is not a section\.key'):
        load_settings(root, overrides=["max_tokens=3"], environ={})


def test_root_is_the_nearest_parent_with_settings(tmp_path: Path) -> None:
    project(tmp_path, "")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_root(below) == tmp_path
    (tmp_path / "settings.toml").unlink()
    with pytest.raises(SettingsError, match=r"No settings.toml here or above. Run in a project folder, or use --root."):
        find_root(below)


def test_hash_depends_on_the_named_sections_only(tmp_path: Path) -> None:
    plain, _ = load_settings(project(tmp_path, ""), environ={})
    other, _ = load_settings(tmp_path, overrides=["search.top=3"], environ={})
    assert plain.sha256() != other.sha256()
    assert plain.sha256("input", "text_units") == other.sha256("input", "text_units")
    assert len(set(all_keys())) == len(all_keys())

"""When do two names mean one thing? Pure parts of disambiguation (index/disambiguation.py joins them).

alias_rules.py: the user's aliases.toml; declared_aliases.py: what the documents declare; nodes.py: names to decide on;
rules.py: blocking, the rules that merge or propose; vetoes.py: what forbids; decisions.py: the order of decisions and
their audit; clusters.py: union with conflict check; homonyms.py: one name, two things; entity_types.py: type families.
"""

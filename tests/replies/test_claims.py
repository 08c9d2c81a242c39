"""Claims in our lines and in the reference's tuples."""

from __future__ import annotations

from graphrag.replies.claims import parse_claims_reply


def test_claims() -> None:
    reply = (
        '["C","ACME","N/A","Fraud","TRUE","2026-01-01","2026-02-01","ACME was fined.",[2,3]]\n'
        '["C","Bob","","fraud","maybe","NONE","","Bob hid it.",[1]]\n["C","","x"]\n'
        "(CARL<|>NONE<|>FRAUD<|>FALSE<|>2026-01-01T00:00:00<|>NONE<|>Carl did not.<|>Carl denied)##"
    )
    parsed = parse_claims_reply(reply, n_sentences=2)
    assert [tuple(claim) for claim in parsed.claims] == [
        ("ACME", "", "fraud", "true", "2026-01-01", "2026-02-01", "ACME was fined.", "", (2,)),
        ("Bob", "", "fraud", "suspected", "", "", "Bob hid it.", "", (1,)),
        ("CARL", "", "fraud", "false", "2026-01-01T00:00:00", "", "Carl did not.", "Carl denied", ()),
    ]
    assert [line.reason for line in parsed.unreadable] == ["unreadable_record"]

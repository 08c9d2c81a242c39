"""Dates as people write them in front matter -> ISO text, or nothing where two readings are possible.

Does not: use the clock, or guess whether 03/04/2024 is March or April.
"""

from __future__ import annotations

import datetime as dt
import re

_MONTH_NAMES = (
    ("jan", "january"), ("feb", "february"), ("mar", "march"), ("apr", "april"), ("may",), ("jun", "june"),
    ("jul", "july"), ("aug", "august"), ("sep", "sept", "september"), ("oct", "october"), ("nov", "november"),
    ("dec", "december"),
)  # fmt: skip
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names}
_ISO = re.compile(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[T\s]+(\d{1,2}:\d{2}(?::\d{2})?)(?:[.,]\d+)?\s*(Z|[+-]\d{2}:?\d{2})?)?$"
)
_MONTH = re.compile(r"(\d{4})(?:-(\d{2}))?$")
_DAY_FIRST = re.compile(
    r"(?:[A-Za-z]{3,9},?\s+)?(\d{1,2})(?:st|nd|rd|th)?[\s-]+([A-Za-z]{3,9})\.?,?[\s-]+(\d{4})(?:\s|$)"
)
_MONTH_FIRST = re.compile(r"(?:[A-Za-z]{3,9},\s+)?([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?:\s|$)")


def iso_date(value: object) -> str:
    """`2024-01-18`, with time `2024-01-18T06:12:00Z` (UTC where a zone is given), `2024-01`, `2024`; else empty.

    Understands ISO forms, 2024/1/8, 8 Jan 2024, 03-May-2019, January 8, 2024. Takes text, dates and years.
    """
    if isinstance(value, dt.datetime):
        zone = value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
        return zone.isoformat(timespec="seconds") + ("Z" if value.tzinfo else "")
    if isinstance(value, dt.date):
        return value.isoformat()
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not text or len(text) > 60:
        return ""
    try:
        return _parse(text)
    except ValueError:
        return ""


def _parse(text: str) -> str:
    if match := _ISO.match(text):
        day = dt.date(int(match[1]), int(match[3]), int(match[4]))
        if not match[5]:
            return day.isoformat()
        hour, minute, second = (*(int(part) for part in match[5].split(":")), 0)[:3]
        moment = dt.datetime.combine(day, dt.time(hour, minute, second))
        if not match[6]:
            return iso_date(moment)
        offset = match[6].replace(":", "")
        hours = 0 if offset == "Z" else int(offset[:3]) + int(offset[0] + offset[3:]) / 60
        return iso_date(moment.replace(tzinfo=dt.timezone(dt.timedelta(hours=hours))))
    if match := _MONTH.match(text):
        dt.date(int(match[1]), int(match[2] or 1), 1)
        return text if 1000 <= int(match[1]) <= 2999 else ""
    if (match := _DAY_FIRST.match(text)) and (month := _MONTHS.get(match[2].casefold())):
        return dt.date(int(match[3]), month, int(match[1])).isoformat()
    if (match := _MONTH_FIRST.match(text)) and (month := _MONTHS.get(match[1].casefold())):
        return dt.date(int(match[3]), month, int(match[2])).isoformat()
    return ""

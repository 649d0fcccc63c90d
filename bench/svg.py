"""Bar charts as SVG text, so that plots need no library.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

HEIGHT, BAR, GAP, LEFT, TOP, FOOT = 220, 26, 28, 50, 36, 46
COLOURS = ["#9aa5b1", "#2f6db5", "#d98324", "#4c9a5f"]


def bars(title: str, groups: list[tuple[str, list[tuple[str, float]]]], line_at: float) -> str:
    """Groups of named bars, with a dashed line at a value of interest and a legend."""
    values = [v for _, group in groups for _, v in group]
    top = max([*values, line_at]) * 1.12
    names = list(dict.fromkeys(name for _, group in groups for name, _ in group))

    def y(v: float) -> float:
        return TOP + HEIGHT * (1 - v / top)

    out, x = [], LEFT + GAP / 2
    for group_name, group in groups:
        for name, v in group:
            colour = COLOURS[names.index(name) % len(COLOURS)]
            out.append(
                f'<rect x="{x:.0f}" y="{y(v):.1f}" width="{BAR - 3}" height="{TOP + HEIGHT - y(v):.1f}" fill="{colour}"/>'
            )
            out.append(
                f'<text x="{x + BAR / 2 - 1:.0f}" y="{y(v) - 3:.1f}" text-anchor="middle" font-size="10">{v:.2f}</text>'
            )
            x += BAR
        middle = x - BAR * len(group) / 2
        out.append(f'<text x="{middle:.0f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{group_name}</text>')
        x += GAP
    width = x + 10
    out.append(
        f'<line x1="{LEFT}" y1="{y(line_at):.1f}" x2="{width - 10:.0f}" y2="{y(line_at):.1f}" stroke="#444" stroke-dasharray="5 4"/>'
    )
    out.append(
        f'<line x1="{LEFT}" y1="{TOP + HEIGHT}" x2="{width - 10:.0f}" y2="{TOP + HEIGHT}" stroke="#444"/>'
    )
    out.append(f'<text x="{LEFT - 6}" y="{y(line_at) + 4:.1f}" text-anchor="end">{line_at:g}</text>')
    for i, name in enumerate(names):
        at = LEFT + i * 110
        out.append(
            f'<rect x="{at}" y="{TOP + HEIGHT + 28}" width="11" height="11" fill="{COLOURS[i % len(COLOURS)]}"/>'
        )
        out.append(f'<text x="{at + 16}" y="{TOP + HEIGHT + 38}">{name}</text>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{TOP + HEIGHT + FOOT}" '
        'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
        f'<text x="{LEFT}" y="20" font-size="14">{title}</text>'
    )
    return head + "\n" + "\n".join(out) + "\n</svg>\n"

//! Columns that fit the width: the least important go first, what is cut ends in a more mark.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::text::{cells, clip, reveal};

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub title: &'static str,
    /// Cells it needs to be of use.
    pub least: u16,
    /// Cells it takes at most; what is left over goes to columns with `u16::MAX`.
    pub most: u16,
    /// 0 stays to the last; the highest goes first when the width is too small.
    pub rank: u8,
    /// Whether it stands at the right edge of its cells, as numbers do.
    pub right: bool,
}

/// The columns that fit, with their widths, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// For each column its width, or none if it is left out.
    widths: Vec<Option<u16>>,
    columns: Vec<Column>,
}

/// Cells between columns.
const GAP: u16 = 2;

impl Layout {
    /// Fits `columns` into `width` cells.
    pub fn fit(columns: &[Column], width: u16) -> Layout {
        Layout::without(columns, width, |_| false)
    }

    /// The same, less the columns that have nothing to show.
    pub fn without(columns: &[Column], width: u16, empty: impl Fn(usize) -> bool) -> Layout {
        let fits = |(at, column): (usize, &Column)| (!empty(at)).then_some(column.least);
        let mut widths: Vec<Option<u16>> = columns.iter().enumerate().map(fits).collect();
        loop {
            let shown = widths.iter().flatten().count();
            let gaps = GAP.saturating_mul(u16::try_from(shown.saturating_sub(1)).unwrap_or(u16::MAX));
            let used = widths.iter().flatten().fold(gaps, |sum, width| sum.saturating_add(*width));
            if used <= width {
                grow(columns, &mut widths, width - used);
                break;
            }
            let worst = (0..columns.len())
                .filter(|at| widths.get(*at).is_some_and(Option::is_some))
                .max_by_key(|at| columns.get(*at).map_or(0, |column| column.rank));
            match worst.and_then(|at| widths.get_mut(at)) {
                // The last one is squeezed rather than left out.
                Some(last) if shown == 1 => {
                    *last = Some(width);
                    break;
                }
                Some(dropped) => *dropped = None,
                None => break,
            }
        }
        Layout { widths, columns: columns.to_vec() }
    }

    /// The same, fitted to the texts of the rows that are seen: a column is as wide as its longest text or its heading
    /// where its most allows, and one without any text is left out.
    pub fn seen<'t, R: IntoIterator<Item = &'t str>>(
        columns: &[Column],
        width: u16,
        rows: impl IntoIterator<Item = R>,
    ) -> Layout {
        let mut longest: Option<Vec<u16>> = None;
        for row in rows {
            let longest = longest.get_or_insert_with(|| vec![0; columns.len()]);
            for (longest, text) in longest.iter_mut().zip(row) {
                *longest = u16::try_from(cells(&reveal(text))).unwrap_or(u16::MAX).max(*longest);
            }
        }
        let Some(longest) = longest else { return Layout::fit(columns, width) };
        let fitted: Vec<Column> = columns
            .iter()
            .zip(&longest)
            .map(|(column, longest)| {
                let title = u16::try_from(column.title.chars().count()).unwrap_or(u16::MAX);
                // A column is shown as wide as it needs to be or not at all; only the unbounded ones give way.
                let need = column.most.min(title.max(*longest));
                if column.most == u16::MAX { *column } else { Column { least: need, most: need, ..*column } }
            })
            .collect();
        Layout::without(&fitted, width, |at| longest.get(at) == Some(&0))
    }

    /// Whether column `at` is shown.
    pub fn shows(&self, at: usize) -> bool {
        self.widths.get(at).is_some_and(Option::is_some)
    }

    /// The headings.
    pub fn head(&self, style: Style) -> Line<'static> {
        let titles: Vec<_> = self.columns.iter().map(|column| (column.title, style)).collect();
        self.row(titles)
    }

    /// One row. Texts may be anybody's: they are revealed and cut here.
    pub fn row<'t>(&self, texts: impl IntoIterator<Item = (&'t str, Style)>) -> Line<'static> {
        let mut spans = Vec::with_capacity(self.columns.len() * 2);
        for (((text, style), width), column) in texts.into_iter().zip(&self.widths).zip(&self.columns) {
            let Some(width) = width else { continue };
            if !spans.is_empty() {
                spans.push(Span::raw(" ".repeat(usize::from(GAP))));
            }
            let width = usize::from(*width);
            let clipped = clip(text, width).text;
            let used = if clipped.as_str().is_ascii() { clipped.as_str().len() } else { cells(&clipped) };
            // Blanks of their own, because unstyled ASCII costs nothing to draw.
            let pad = Span::raw(" ".repeat(width.saturating_sub(used)));
            let text = Span::styled(clipped.to_string(), style);
            spans.extend(if column.right { [pad, text] } else { [text, pad] });
        }
        Line::from(spans)
    }
}

/// Shares what is left over: first up to each bounded column's most, then to the unbounded ones.
fn grow(columns: &[Column], widths: &mut [Option<u16>], mut left: u16) {
    for (column, width) in columns.iter().zip(widths.iter_mut()) {
        if let Some(width) = width.as_mut().filter(|_| column.most != u16::MAX) {
            let more = column.most.saturating_sub(*width).min(left);
            *width += more;
            left -= more;
        }
    }
    let mut open: Vec<&mut u16> = columns
        .iter()
        .zip(widths.iter_mut())
        .filter(|(column, _)| column.most == u16::MAX)
        .filter_map(|(_, width)| width.as_mut())
        .collect();
    while let Some(share) = u16::try_from(open.len()).ok().and_then(|count| left.checked_div(count)) {
        if let Some(width) = open.pop() {
            *width += share;
            left -= share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[
        Column { title: "task", least: 6, most: 10, rank: 0, right: false },
        Column { title: "asks", least: 8, most: u16::MAX, rank: 1, right: false },
        Column { title: "age", least: 5, most: 5, rank: 2, right: true },
    ];

    fn drawn(width: u16, texts: [&str; 3]) -> String {
        Layout::fit(COLUMNS, width).row(texts.map(|text| (text, Style::new()))).to_string()
    }

    #[test]
    fn wide_columns_grow_and_every_row_is_as_wide_as_asked() {
        assert_eq!(
            drawn(40, ["T-20", "collect evidence", "2h14m"]),
            "T-20        collect evidence       2h14m"
        );
        assert_eq!(
            drawn(40, ["T-20", "界界界界界界界界界界界界", "3m"]),
            "T-20        界界界界界界界界界界…     3m"
        );
    }

    #[test]
    fn the_least_important_column_goes_first_and_a_cut_is_marked() {
        assert_eq!(drawn(22, ["T-20", "collect evidence", "2h14m"]), "T-20        collect e…");
        assert_eq!(drawn(8, ["T-2000000", "x", "y"]), "T-20000…");
        assert_eq!(drawn(3, ["T-20", "x", "y"]), "T-…");
        assert_eq!(drawn(0, ["T-20", "x", "y"]), "");
    }

    #[test]
    fn columns_fit_what_is_seen_and_one_without_text_gives_its_room() {
        let seen = |rows: &[[&str; 3]]| {
            let layout = Layout::seen(COLUMNS, 22, rows.iter().copied());
            layout.row(rows[0].map(|text| (text, Style::new()))).to_string()
        };
        assert_eq!(seen(&[["T-20", "collect evidence", ""]]), "T-20  collect evidence");
        assert_eq!(
            seen(&[["T-20", "collect evidence", ""], ["T-2000", "x", "1m"]]),
            "T-20    collect …     "
        );
        let none: [[&str; 3]; 0] = [];
        assert_eq!(Layout::seen(COLUMNS, 40, none), Layout::fit(COLUMNS, 40));
    }

    #[test]
    fn foreign_text_cannot_drive_the_terminal_nor_shift_the_columns() {
        let row = drawn(40, ["T-\x1b[2J", "a\u{202e}b", "1m"]);
        assert!(!row.chars().any(|char| char.is_control() || char == '\u{202e}'));
        assert_eq!(unicode_width::UnicodeWidthStr::width(row.as_str()), 40);
    }
}

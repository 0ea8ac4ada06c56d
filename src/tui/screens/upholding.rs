//! What can be upheld: the sides of a task by intent, what is known here of their contents, and which of them stand.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Ctx;
use super::case::checks::Checks;
use super::case::columns::{Column, Set};
use crate::domain::ids::TaskId;
use crate::tui::event::Reply;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::ink;

/// A column, by its set and its place in it.
pub(super) type At = (usize, usize);

/// See the module.
#[derive(Default)]
pub(super) struct Upholding {
    sets: Vec<Set>,
    checks: Checks,
    /// The arrivals that stand, one for an intent, ascending.
    upheld: Vec<u64>,
}

impl Upholding {
    /// No sides yet; what was read elsewhere is known.
    pub(super) fn knowing(checks: Checks) -> Upholding {
        Upholding { checks, ..Upholding::default() }
    }

    /// Takes over the sides as they were just read. Returns whether something that stood is not among them.
    pub(super) fn take(&mut self, sets: Vec<Set>) -> bool {
        self.sets = sets;
        let there: Vec<u64> = self.columns().map(Column::arrival).collect();
        let before = self.upheld.len();
        self.upheld.retain(|arrival| there.contains(arrival));
        before != self.upheld.len()
    }

    pub(super) fn checks(&self) -> &Checks {
        &self.checks
    }

    /// Takes note that the content of a column is on the screen.
    pub(super) fn saw(&mut self, arrival: u64) {
        self.checks.saw(arrival);
    }

    /// Forgets what could not be read, so that it is asked for again.
    pub(super) fn retry(&mut self) {
        self.checks.retry();
    }

    /// Asks for the next content that was not read.
    pub(super) fn go_on(&mut self, id: &TaskId, ctx: &mut Ctx<'_>) {
        self.checks.go_on(id, &self.sets, ctx);
    }

    /// Takes a reply, if it is to this, and goes on.
    pub(super) fn reply(&mut self, id: &TaskId, request: u64, reply: &Reply, ctx: &mut Ctx<'_>) {
        if self.checks.take(request, reply) {
            self.go_on(id, ctx);
        }
    }

    /// Every column in order, by its place.
    pub(super) fn places(&self) -> impl Iterator<Item = At> {
        let sets = self.sets.iter().enumerate();
        sets.flat_map(|(set, one)| (0..one.columns.len()).map(move |column| (set, column)))
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = &Column> {
        self.sets.iter().flat_map(|set| &set.columns)
    }

    pub(super) fn column(&self, at: At) -> Option<&Column> {
        self.sets.get(at.0)?.columns.get(at.1)
    }

    /// The arrivals that stand.
    pub(super) fn upheld(&self) -> &[u64] {
        &self.upheld
    }

    fn stands(&self, column: &Column) -> bool {
        self.upheld.contains(&column.arrival())
    }

    /// The columns that stand.
    pub(super) fn standing(&self) -> impl Iterator<Item = &Column> {
        self.columns().filter(|column| self.stands(column))
    }

    /// The columns that do not.
    pub(super) fn falling(&self) -> impl Iterator<Item = &Column> {
        self.columns().filter(|column| !self.stands(column))
    }

    /// Upholds a column in place of the others of its intent, or no longer. Returns whether it stands now.
    ///
    /// # Errors
    /// Why it cannot be upheld, a sentence of anybody's text.
    pub(super) fn toggle(&mut self, at: At) -> Result<bool, String> {
        let Some(column) = self.column(at) else { return Ok(false) };
        let arrival = column.arrival();
        if let Some(at) = self.upheld.iter().position(|one| *one == arrival) {
            self.upheld.remove(at);
            return Ok(false);
        }
        if let Some(why) = self.checks.not_upholdable(column) {
            return Err(format!("#{arrival} cannot be upheld: {why}"));
        }
        let own: Vec<u64> =
            self.sets.get(at.0).map_or(Vec::new(), |set| set.columns.iter().map(Column::arrival).collect());
        self.upheld.retain(|one| !own.contains(one));
        self.upheld.push(arrival);
        self.upheld.sort_unstable();
        Ok(true)
    }

    /// Nothing stands.
    pub(super) fn clear(&mut self) {
        self.upheld.clear();
    }

    /// What stood when it was written down, as far as it is there.
    pub(super) fn restore(&mut self, upheld: Vec<u64>) {
        let there: Vec<u64> = self.columns().map(Column::arrival).collect();
        self.upheld = upheld.into_iter().filter(|arrival| there.contains(arrival)).collect();
    }

    /// Why nothing may be decided yet, if so: a content that was not read.
    pub(super) fn unread(&self) -> Option<String> {
        self.checks.unread(&self.sets)
    }

    /// Why something that stands may not, if so.
    pub(super) fn not_upholdable(&self) -> Option<String> {
        self.standing().find_map(|column| {
            let why = self.checks.not_upholdable(column)?;
            Some(format!("{} cannot be upheld: {why}", column.label))
        })
    }

    /// The line above the columns of one intent.
    pub(super) fn head(&self, set: usize, width: usize, theme: &Theme) -> Line<'static> {
        let Some(set) = self.sets.get(set) else { return Line::default() };
        let word = if set.conflict.is_some() { "uphold, of intent " } else { "uphold, held, of intent " };
        let mut line = vec![Span::styled(word, theme.style(Role::Muted))];
        line.extend(ink::spans(&set.intent.idempotency_key, Style::new(), theme));
        line.push(Span::styled(" (one or none)", theme.style(Role::Muted)));
        Line::from(ink::fit(line, width, false))
    }

    /// The line of one column; `mine`: whether the cursor is on it.
    pub(super) fn line(&self, at: At, mine: bool, width: usize, theme: &Theme) -> Line<'static> {
        let Some(column) = self.column(at) else { return Line::default() };
        let style = if mine { theme.style(Role::Selected) } else { Style::new() };
        let tick = if self.stands(column) { "[x] " } else { "[ ] " };
        let mark = Span::styled(if mine { "▌" } else { " " }, theme.style(Role::Accent));
        let mut line = vec![mark, Span::styled(format!("{tick}{}  ", column.label), style)];
        line.extend(self.about(column, theme));
        Line::from(ink::fit(line, width, false))
    }

    /// `sha256:9f2c41…  #1 researcher-a  verified`.
    fn about(&self, column: &Column, theme: &Theme) -> Vec<Span<'static>> {
        let (word, role) = self.checks.word(column);
        let mut line =
            vec![Span::styled(format!("sha256:{}…  ", column.digest.short()), theme.style(Role::Title))];
        let sender = column.sides.first().map(|side| side.sender.as_str()).unwrap_or_default();
        line.push(Span::styled(format!("#{} ", column.arrival()), theme.style(Role::Badge)));
        line.extend(ink::name(sender, theme));
        let more = column.sides.len().saturating_sub(1);
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        let done = if column.done { ", ALREADY DONE" } else { "" };
        line.push(Span::raw(format!("{more}  {}{done}  ", column.kind.as_str())));
        line.push(Span::styled(word, theme.style(role)));
        if let Some(why) = self.checks.not_upholdable(column) {
            line.extend(ink::spans(&format!("  (off: {why})"), theme.style(Role::Warning), theme));
        }
        line
    }
}

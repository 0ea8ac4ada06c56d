//! The outcomes that are held beside a question: read, upheld or set aside with its answer.

use super::super::upholding::At;
use super::super::viewer::Viewer;
use super::super::{Ctx, Outcome};
use super::{Answer, Part};
use crate::tui::effect::Source;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::form::Sheet;
use crate::tui::widgets::ink;

impl Answer {
    /// Upholds a held outcome, or no longer.
    pub(super) fn uphold(&mut self, at: At) -> Result<(), String> {
        if self.cancels() {
            return Err("a canceled task resumes nothing".to_owned());
        }
        match self.not_own(at) {
            Some(why) => Err(why),
            None => self.sides.toggle(at).map(|_| ()),
        }
    }

    /// Why a side is not for whoever looks to judge, if so.
    fn not_own(&self, at: At) -> Option<String> {
        let (column, own) = (self.sides.column(at)?, &self.reading.shown()?.own);
        let own = own.iter().find(|arrival| column.holds(**arrival))?;
        Some(format!("you wrote #{own} and may not judge it"))
    }

    /// Opens the content of the held outcome with the focus: it is upheld only after it was read.
    pub(super) fn read_side(&mut self, ctx: &mut Ctx<'_>) -> Outcome {
        let Some(Part::Side(at)) = self.part() else { return Outcome::Ignored };
        if let Some(column) = self.sides.column(at) {
            let (arrival, kind) = (column.arrival(), column.kind.as_str());
            let id = self.reading.id().clone();
            ctx.push(Viewer::of(format!("#{arrival} {kind}"), id, arrival, Source::Payload, None));
            self.sides.saw(arrival);
        }
        Outcome::Handled
    }

    /// What is judged with the question: it stands only where it is upheld here.
    pub(super) fn add_sides<'a>(&'a self, sheet: &mut Sheet<'a>, width: usize, theme: &Theme) {
        let (many, upheld) = (self.sides.columns().count(), self.sides.upheld().len());
        if many == 0 {
            return;
        }
        let held = if many == 1 { "1 held outcome is" } else { &format!("{many} held outcomes are") };
        let text = format!("{held} judged with this: what is not upheld here is set aside ({upheld} upheld)");
        sheet.lines(ink::paragraph(&text, theme.style(Role::Warning), width, 3, theme));
        let (part, mut last) = (self.part(), None);
        for at in self.sides.places() {
            if last.replace(at.0) != Some(at.0) {
                sheet.lines([self.sides.head(at.0, width, theme)]);
            }
            let mine = part == Some(Part::Side(at));
            let line = [self.sides.line(at, mine, width, theme)];
            if mine {
                sheet.focused(line)
            } else {
                sheet.lines(line)
            };
        }
    }
}

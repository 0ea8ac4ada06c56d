//! The draft behind a form: asked for when the form opens, kept while it is written, gone when it is sent.
//!
//! Nothing is kept before it is known what was kept before, so that what nobody has seen is not written over. What a
//! draft was made against stays with it, however often it is changed, until it is sent or thrown away.

use ratatui::text::Line;

use super::Ctx;
use crate::domain::ids::{TaskId, Timestamp};
use crate::domain::text::reveal;
use crate::tui::draft::{Basis, Draft, Kind, Written};
use crate::tui::effect::{Ask, Effect};
use crate::tui::event::{Event, Reply};
use crate::tui::model::Model;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::ink;
use crate::tui::widgets::moment::{self, Told, moment};

/// Lines of a text that found no place, at most.
const TALLEST: usize = 200;

/// How far the draft is known.
#[derive(Debug)]
enum Known {
    /// It was not asked for yet.
    No,
    /// It is being asked for.
    Asked(u64),
    /// It is known and not taken over yet.
    Found(Option<Box<Draft>>),
    /// It is taken over.
    Taken,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Drafting {
    task: TaskId,
    kind: Kind,
    known: Known,
    /// When it was changed last, and what it was made against; of one that was found.
    found: Option<(Timestamp, Basis)>,
    /// What it was made against, once something is written.
    basis: Option<Basis>,
    /// What was found and has no place in the form; it stays in the draft.
    left: Written,
    /// What was given away to be kept.
    kept: Written,
    /// A credential was in it.
    secret: bool,
    /// It was asked to be thrown away.
    discarding: bool,
}

impl Drafting {
    pub(super) fn new(task: TaskId, kind: Kind) -> Drafting {
        Drafting {
            task,
            kind,
            known: Known::No,
            found: None,
            basis: None,
            left: Written::default(),
            kept: Written::default(),
            secret: false,
            discarding: false,
        }
    }

    /// Takes an event: asks at the first size. Returns whether the draft is known now.
    pub(super) fn event(&mut self, event: &Event, ctx: &mut Ctx<'_>) -> bool {
        match (event, &self.known) {
            (Event::Resize { .. }, Known::No) => {
                let request = ctx.request();
                self.known = Known::Asked(request);
                ctx.effect(Effect::Ask(request, Box::new(Ask::Draft(self.task.clone(), self.kind))));
            }
            (Event::Reply { request, reply }, Known::Asked(own)) if own == request => {
                let mut draft = None;
                if let Reply::Draft(found) = reply {
                    draft.clone_from(&found.draft);
                    if let Some(why) = &found.problem {
                        ctx.toast(reveal(&format!("a draft is left where it is: {why}")).to_string());
                    }
                }
                self.known = Known::Found(draft);
                return true;
            }
            _ => {}
        }
        false
    }

    /// The draft that was found, once, where it is known; the form takes it over.
    pub(super) fn take(&mut self) -> Option<Option<Draft>> {
        let Known::Found(draft) = &mut self.known else { return None };
        let draft = draft.take().map(|draft| *draft);
        self.known = Known::Taken;
        if let Some(draft) = &draft {
            self.found = Some((draft.at, draft.basis.clone()));
            self.basis = Some(draft.basis.clone());
            self.kept = draft.written.clone();
        }
        Some(draft)
    }

    /// What has no place in the form, to be shown and kept.
    pub(super) fn leave(&mut self, left: Written) {
        self.left = left;
    }

    /// Everything that has no place in the form, as one text; `None` where everything has.
    pub(super) fn leftover(&self) -> Option<String> {
        let texts = self.left.texts();
        match texts.as_slice() {
            [] => None,
            [(_, text)] => Some(text.clone()),
            _ => Some(texts.iter().map(|(name, text)| format!("{name}: {text}\n")).collect()),
        }
    }

    /// Whether a draft was found, and neither sent nor thrown away.
    pub(super) fn is_found(&self) -> bool {
        self.found.is_some()
    }

    /// Has kept what is written where it is not what was kept last; where `now`, at once. `basis` is how the task
    /// stands that it is made against.
    pub(super) fn keep(&mut self, mut written: Written, basis: Option<Basis>, now: bool, ctx: &mut Ctx<'_>) {
        self.discarding = false;
        if !matches!(self.known, Known::Taken) {
            return;
        }
        self.left.clone().put_into(&mut written);
        let changed = self.kept != written;
        if written.is_blank() {
            if changed && !self.kept.is_blank() {
                self.forget(ctx);
            }
            return;
        }
        let Some(basis) = self.basis.clone().or(basis) else { return };
        if !changed && !now {
            return;
        }
        self.basis = Some(basis.clone());
        self.kept = written.clone();
        // The beginning of what turns out to be a credential may be on disk already: it goes at once.
        let secret = written.clone().without_secrets().1.is_some();
        let now = now || (secret && !self.secret);
        self.secret = secret;
        let at = moment::now(ctx.model);
        let draft = Box::new(Draft { task: self.task.clone(), kind: self.kind, at, basis, written });
        ctx.effect(Effect::Keep { draft, now });
    }

    /// The person read how the task stands now: what is written is meant for that.
    pub(super) fn rebase(&mut self, basis: Option<Basis>) {
        if let Some(basis) = basis.filter(|_| self.basis.is_some()) {
            if let Some((_, found)) = &mut self.found {
                found.clone_from(&basis);
            }
            self.basis = Some(basis);
        }
    }

    /// It is sent, or nothing is left of it.
    pub(super) fn forget(&mut self, ctx: &mut Ctx<'_>) {
        (self.found, self.basis, self.secret) = (None, None, false);
        (self.left, self.kept) = (Written::default(), Written::default());
        ctx.effect(Effect::Forget(self.task.clone(), self.kind));
    }

    /// It is to be thrown away: asked once more first. Returns whether the form is to be emptied.
    pub(super) fn discard(&mut self, ctx: &mut Ctx<'_>) -> bool {
        if self.kept.is_blank() {
            ctx.toast("there is no draft");
            return false;
        }
        if !std::mem::replace(&mut self.discarding, true) {
            ctx.toast("the same key again throws away what is written here");
            return false;
        }
        self.discarding = false;
        self.forget(ctx);
        ctx.toast("the draft is thrown away");
        true
    }

    /// The person goes on without throwing it away.
    pub(super) fn hold(&mut self) {
        self.discarding = false;
    }

    /// What is said of a draft that was found: of when, made against what, whether that is still so, and what of it
    /// has no place.
    pub(super) fn told(
        &self,
        now: Option<&Basis>,
        width: usize,
        theme: &Theme,
        model: &Model,
    ) -> Vec<Line<'static>> {
        let Some((at, basis)) = &self.found else { return Vec::new() };
        let told = moment(*at, Told::Local, model);
        // To the minute.
        let told = told.rsplit_once(':').map_or(told.as_str(), |(minute, _)| minute);
        let stale = now.and_then(|now| basis.stale(now));
        let role = if stale.is_some() { Role::Warning } else { Role::Muted };
        let stale = stale.map(|why| format!(", {why}")).unwrap_or_default();
        let text = format!("draft of {told}, made against v{}{stale}", basis.version);
        let mut lines = ink::paragraph(&text, theme.style(role), width, 4, theme);
        for (name, text) in self.left.texts() {
            let text = format!("{name}, as it was written: {text}");
            lines.extend(ink::paragraph(&text, theme.style(Role::Text), width, TALLEST, theme));
        }
        lines
    }
}

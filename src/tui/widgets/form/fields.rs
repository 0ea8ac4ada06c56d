//! The fields of a question's schema, each with its own way to be filled in and its error beside it.

use std::collections::BTreeMap;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::super::ink;
use super::super::input::Field as Input;
use super::Sheet;
use crate::domain::form::{Choice, Entry, Field, FieldError, Form, Kind};
use crate::domain::text::reveal;
use crate::tui::event::{Code, Key};
use crate::tui::theme::{Role, Theme};

/// How one field is filled in.
#[derive(Clone, Debug)]
enum Control {
    Text(Box<Input>),
    /// What was chosen, and where the cursor stands: yes, then no.
    Flag(Option<bool>, usize),
    /// The chosen one, and where the cursor stands.
    One(Option<usize>, usize),
    /// The chosen ones, and where the cursor stands.
    Many(Vec<bool>, usize),
}

/// The fields of a form.
#[derive(Clone, Debug)]
pub struct Fields {
    form: Form,
    controls: Vec<Control>,
    errors: Vec<Option<String>>,
    /// What is wrong with the answer as a whole.
    whole: Vec<String>,
}

impl Fields {
    /// The fields with their defaults filled in.
    pub fn new(form: Form) -> Fields {
        let controls = form.fields.iter().map(control).collect();
        let errors = vec![None; form.fields.len()];
        Fields { form, controls, errors, whole: Vec::new() }
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.controls.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.controls.is_empty()
    }

    /// Whether characters are typed into this field.
    pub fn types(&self, at: usize) -> bool {
        matches!(self.controls.get(at), Some(Control::Text(_)))
    }

    /// Takes a key into a field that is typed.
    pub fn key(&mut self, at: usize, key: Key) {
        if let Some(Control::Text(input)) = self.controls.get_mut(at)
            && (key.code != Code::Enter)
            && input.key(key)
        {
            self.forget(at);
        }
    }

    /// Takes a paste into a field that is typed.
    pub fn paste(&mut self, at: usize, text: &str) {
        if let Some(Control::Text(input)) = self.controls.get_mut(at) {
            input.paste(text);
            self.forget(at);
        }
    }

    fn forget(&mut self, at: usize) {
        if let Some(error) = self.errors.get_mut(at) {
            *error = None;
        }
        self.whole.clear();
    }

    /// Takes the choice under the cursor; of those that go together, takes or leaves it.
    pub fn choose(&mut self, at: usize) {
        match self.controls.get_mut(at) {
            Some(Control::Flag(flag, cursor)) => *flag = Some(*cursor == 0),
            Some(Control::One(chosen, cursor)) => *chosen = Some(*cursor),
            Some(Control::Many(chosen, cursor)) => {
                if let Some(one) = chosen.get_mut(*cursor) {
                    *one = !*one;
                }
            }
            Some(Control::Text(_)) | None => return,
        }
        self.forget(at);
    }

    /// Moves the cursor among the choices of a field, and chooses nothing. Returns whether there are any.
    pub fn step(&mut self, at: usize, forward: bool) -> bool {
        let many = self.form.fields.get(at).map_or(0, choices).max(1);
        let next = |at: usize| if forward { (at + 1).min(many - 1) } else { at.saturating_sub(1) };
        match self.controls.get_mut(at) {
            Some(Control::Flag(_, cursor) | Control::One(_, cursor) | Control::Many(_, cursor)) => {
                *cursor = next(*cursor);
            }
            Some(Control::Text(_)) | None => return false,
        }
        true
    }

    /// Leaves a field that may be left out without an answer again.
    pub fn clear(&mut self, at: usize) {
        match self.controls.get_mut(at) {
            Some(Control::Flag(flag, _)) => *flag = None,
            Some(Control::One(chosen, _)) => *chosen = None,
            Some(Control::Many(chosen, _)) => chosen.iter_mut().for_each(|one| *one = false),
            Some(Control::Text(_)) | None => return,
        }
        self.forget(at);
    }

    /// Every member of the answer as it would be sent now, by its raw name: `region "eu"`. Raw.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn members(&self) -> Result<Vec<String>, Vec<FieldError>> {
        let answer = self.answer()?;
        let members = answer.as_object().into_iter().flatten();
        Ok(members.map(|(name, value)| format!("{name} {value}")).collect())
    }

    /// What is not as it was offered, by the field's raw name: a text, yes or no, the values chosen; null for none.
    pub fn filled(&self) -> BTreeMap<String, Value> {
        let named = self.form.fields.iter().zip(&self.controls);
        named
            .filter_map(|(field, now)| {
                let value = value(field, now);
                (value != self::value(field, &control(field))).then(|| (field.name.raw().to_owned(), value))
            })
            .collect()
    }

    /// Fills in what `filled` gave, also that of another form. Returns what has no place in this one.
    pub fn restore(&mut self, mut filled: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
        for (field, control) in self.form.fields.iter().zip(&mut self.controls) {
            if let Some(value) = filled.remove(field.name.raw())
                && !fill(field, control, &value)
            {
                filled.insert(field.name.raw().to_owned(), value);
            }
        }
        filled.retain(|_, value| !value.is_null());
        filled
    }

    /// What was filled in, by the field's raw name. An empty text is no answer.
    fn entries(&self) -> BTreeMap<String, Entry> {
        let named = self.form.fields.iter().zip(&self.controls);
        named
            .map(|(field, control)| {
                let entry = match control {
                    Control::Text(input) if input.is_empty() => Entry::Absent,
                    Control::Text(input) => Entry::Text(input.text()),
                    Control::Flag(flag, _) => flag.map_or(Entry::Absent, Entry::Flag),
                    Control::One(chosen, _) => chosen.map_or(Entry::Absent, Entry::One),
                    Control::Many(chosen, _) => {
                        let at = chosen.iter().enumerate().filter(|(_, on)| **on).map(|(at, _)| at);
                        let at: Vec<usize> = at.collect();
                        if at.is_empty() && !field.required { Entry::Absent } else { Entry::Many(at) }
                    }
                };
                (field.name.raw().to_owned(), entry)
            })
            .collect()
    }

    /// The answer as it is filled in now.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn answer(&self) -> Result<Value, Vec<FieldError>> {
        self.form.collect(&self.entries())
    }

    /// Puts errors beside their fields. Returns the first field that has one.
    pub fn set_errors(&mut self, errors: &[FieldError]) -> Option<usize> {
        self.errors = vec![None; self.controls.len()];
        self.whole.clear();
        let mut first = None;
        for error in errors {
            let name = error.field();
            let at = self.form.fields.iter().position(|field| name.as_deref() == Some(field.name.raw()));
            match at.and_then(|at| self.errors.get_mut(at).map(|place| (at, place))) {
                Some((at, place)) => {
                    first = Some(first.map_or(at, |first: usize| first.min(at)));
                    place.get_or_insert_with(|| error.message.clone());
                }
                None => self.whole.push(error.to_string()),
            }
        }
        first
    }

    /// Adds the fields to a sheet; `focus` is the one that has the focus.
    pub fn add_to<'a>(&'a self, sheet: &mut Sheet<'a>, focus: Option<usize>, width: usize, theme: &Theme) {
        if let Some(about) = &self.form.description {
            sheet.lines(ink::paragraph(about.raw(), theme.style(Role::Muted), width, 12, theme));
        }
        for why in &self.whole {
            sheet.lines(ink::paragraph(&format!("▲ {why}"), theme.style(Role::Danger), width, 4, theme));
        }
        for (at, (field, control)) in self.form.fields.iter().zip(&self.controls).enumerate() {
            let mine = focus == Some(at);
            let mut lines = vec![label(field, mine, width, theme)];
            if let Some(about) = &field.description {
                lines.extend(ink::paragraph(about.raw(), theme.style(Role::Muted), width, 4, theme));
            }
            match control {
                Control::Text(input) => drop(sheet.input(lines, input, mine)),
                other => {
                    lines.extend(options(field, other, mine, width, theme));
                    if mine {
                        sheet.focused(lines)
                    } else {
                        sheet.lines(lines)
                    };
                }
            }
            if let Some(Some(why)) = self.errors.get(at) {
                sheet.lines(ink::paragraph(&format!("▲ {why}"), theme.style(Role::Danger), width, 4, theme));
            }
            sheet.lines([Line::default()]);
        }
    }
}

fn choices(field: &Field) -> usize {
    match &field.kind {
        Kind::One(choices) | Kind::Many { choices, .. } => choices.len(),
        Kind::Boolean => 2,
        Kind::Text { .. } | Kind::Number(_) | Kind::Integer(_) => 0,
    }
}

fn control(field: &Field) -> Control {
    let text = |entry: &Entry| match entry {
        Entry::Text(text) => text.clone(),
        _ => String::new(),
    };
    let default = field.default.as_ref().unwrap_or(&Entry::Absent);
    match &field.kind {
        Kind::Text { .. } | Kind::Number(_) | Kind::Integer(_) => {
            Control::Text(Box::new(Input::line(&text(default))))
        }
        Kind::Boolean => match default {
            Entry::Flag(flag) => Control::Flag(Some(*flag), usize::from(!flag)),
            _ => Control::Flag(None, 0),
        },
        Kind::One(_) => match default {
            Entry::One(at) => Control::One(Some(*at), *at),
            _ => Control::One(None, 0),
        },
        Kind::Many { choices, .. } => {
            let on = |at: usize| matches!(default, Entry::Many(chosen) if chosen.contains(&at));
            Control::Many((0..choices.len()).map(on).collect(), 0)
        }
    }
}

/// What a control holds, as data.
fn value(field: &Field, control: &Control) -> Value {
    let of = |choices: &[Choice], at: usize| choices.get(at).map_or(Value::Null, |one| one.value.clone());
    match (&field.kind, control) {
        (_, Control::Text(input)) => Value::String(input.text()),
        (_, Control::Flag(flag, _)) => flag.map_or(Value::Null, Value::Bool),
        (Kind::One(choices), Control::One(Some(at), _)) => of(choices, *at),
        (Kind::Many { choices, .. }, Control::Many(chosen, _)) => {
            let on = chosen.iter().enumerate().filter(|(_, on)| **on);
            Value::Array(on.map(|(at, _)| of(choices, at)).collect())
        }
        _ => Value::Null,
    }
}

/// Has a control hold this. Returns whether it can.
fn fill(field: &Field, control: &mut Control, value: &Value) -> bool {
    let place = |choices: &[Choice], value: &Value| choices.iter().position(|one| one.value == *value);
    match (&field.kind, control, value) {
        (_, Control::Text(input), Value::String(text)) => input.set(text),
        (_, Control::Flag(flag, cursor), Value::Bool(on)) => (*flag, *cursor) = (Some(*on), usize::from(!on)),
        (_, Control::Flag(flag, _), Value::Null) => *flag = None,
        (_, Control::One(chosen, _), Value::Null) => *chosen = None,
        (Kind::One(choices), Control::One(chosen, cursor), value) => match place(choices, value) {
            Some(at) => (*chosen, *cursor) = (Some(at), at),
            None => return false,
        },
        (Kind::Many { choices, .. }, Control::Many(chosen, _), Value::Array(values)) => {
            if values.iter().any(|value| place(choices, value).is_none()) {
                return false;
            }
            for (on, choice) in chosen.iter_mut().zip(choices) {
                *on = values.contains(&choice.value);
            }
        }
        _ => return false,
    }
    true
}

/// `Region (required, one of 3)`.
fn label(field: &Field, mine: bool, width: usize, theme: &Theme) -> Line<'static> {
    let name = field.title.as_ref().unwrap_or(&field.name);
    let mut line = Vec::new();
    if mine {
        line.push(Span::styled("▸ ", theme.style(Role::Accent)));
    }
    line.extend(ink::spans(name.raw(), theme.style(Role::Title), theme));
    let must = if field.required { "required" } else { "may be left out" };
    let typed = matches!(field.kind, Kind::Text { .. } | Kind::Number(_) | Kind::Integer(_));
    let offered = if typed && field.default.is_some() { ", filled in already: ctrl-u clears" } else { "" };
    line.push(Span::styled(format!("  ({must}, {}{offered})", takes(field)), theme.style(Role::Muted)));
    Line::from(ink::fit(line, width, false))
}

fn takes(field: &Field) -> String {
    let bounds = |limits: &crate::domain::form::Limits| {
        let named = [
            ("at least", &limits.minimum),
            ("more than", &limits.exclusive_minimum),
            ("at most", &limits.maximum),
            ("less than", &limits.exclusive_maximum),
            ("a multiple of", &limits.multiple_of),
        ];
        let told = named.iter().filter_map(|(word, n)| n.as_ref().map(|n| format!(" {word} {n}")));
        told.collect::<Vec<_>>().join(",")
    };
    match &field.kind {
        Kind::Text { format, min_length, max_length, pattern } => {
            let format = format.as_ref().map_or_else(|| "text".to_owned(), |f| f.reveal().to_string());
            let least = min_length.map(|n| format!(", at least {n} characters")).unwrap_or_default();
            let most = max_length.map(|n| format!(", at most {n} characters")).unwrap_or_default();
            let pattern = pattern.as_ref().map(|p| format!(", matching {}", p.reveal())).unwrap_or_default();
            format!("{format}{least}{most}{pattern}")
        }
        Kind::Number(limits) => format!("a number{}", bounds(limits)),
        Kind::Integer(limits) => format!("a whole number{}", bounds(limits)),
        Kind::Boolean => "yes or no".to_owned(),
        Kind::One(choices) => format!("one of {}", choices.len()),
        Kind::Many { choices, min_items, max_items } => {
            let least = min_items.map(|n| format!(", at least {n}")).unwrap_or_default();
            let most = max_items.map(|n| format!(", at most {n}")).unwrap_or_default();
            format!("any of {}{least}{most}", choices.len())
        }
    }
}

/// The choices of a field, one a line.
fn options(field: &Field, control: &Control, mine: bool, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let line = |on: bool, cursor: bool, square: bool, text: &str| {
        let mark = if cursor { "▌" } else { " " };
        let tick = match (square, on) {
            (true, true) => "[x] ",
            (true, false) => "[ ] ",
            (false, true) => "(•) ",
            (false, false) => "( ) ",
        };
        let style = if cursor { theme.style(Role::Selected) } else { Style::new() };
        let mut spans = vec![Span::styled(mark, theme.style(Role::Accent)), Span::styled(tick, style)];
        spans.extend(ink::spans(text, style, theme));
        Line::from(ink::fit(spans, width, false))
    };
    let told = |choice: &Choice| {
        let about = choice.description.as_ref().map(|d| format!(" — {}", d.raw())).unwrap_or_default();
        let value = match choice.value.as_str() {
            Some(value) if value == choice.title.raw() => String::new(),
            _ => format!("  {}", reveal(&choice.value.to_string())),
        };
        format!("{}{value}{about}", choice.title.raw())
    };
    match (&field.kind, control) {
        (Kind::Boolean, Control::Flag(flag, cursor)) => [(true, "yes"), (false, "no")]
            .into_iter()
            .enumerate()
            .map(|(at, (value, word))| line(*flag == Some(value), mine && at == *cursor, false, word))
            .collect(),
        (Kind::One(choices), Control::One(chosen, cursor)) => choices
            .iter()
            .enumerate()
            .map(|(at, choice)| line(*chosen == Some(at), mine && at == *cursor, false, &told(choice)))
            .collect(),
        (Kind::Many { choices, .. }, Control::Many(chosen, cursor)) => choices
            .iter()
            .zip(chosen)
            .enumerate()
            .map(|(at, (choice, on))| line(*on, mine && at == *cursor, true, &told(choice)))
            .collect(),
        _ => Vec::new(),
    }
}

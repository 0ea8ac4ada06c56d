//! The one table of actions: each named, bindable intention with its words, scopes, keys and danger.
//!
//! Keymap, help, palette, footer and configuration reference are all read from here, so a command cannot be
//! listed in one place and missing in another. Handlers live in the screens.

/// Where a key is valid. A layer names the scopes that are live while it is on top, most particular first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Everywhere, also while text is typed.
    Always,
    /// Everywhere except while text is typed.
    Global,
    /// Any list or scrolled body.
    List,
    /// Any text field.
    Field,
    /// A text field of one line, which `Enter` ends.
    Line,
    /// The queue of tasks.
    Docket,
    /// The candidates side by side.
    Case,
    /// The decision dialog, outside its text fields.
    Decision,
    /// The answer form, outside its text fields.
    Answer,
    /// Everything that happened to a task.
    Timeline,
    /// The ledger.
    Approvals,
    /// One approval record.
    Record,
    /// The dead letters.
    Quarantine,
    /// One dead letter.
    Entry,
    /// A dialog that asks once more.
    Confirm,
    /// The choice of columns.
    Columns,
    /// One text, opened whole.
    Text,
}

impl Scope {
    /// The scope's word, as used in help and in the configuration.
    pub fn word(self) -> &'static str {
        match self {
            Scope::Always => "always",
            Scope::Global => "global",
            Scope::List => "list",
            Scope::Field => "field",
            Scope::Line => "line",
            Scope::Docket => "docket",
            Scope::Case => "case",
            Scope::Decision => "decision",
            Scope::Answer => "answer",
            Scope::Timeline => "timeline",
            Scope::Approvals => "approvals",
            Scope::Quarantine => "quarantine",
            Scope::Record => "record",
            Scope::Entry => "entry",
            Scope::Confirm => "confirm",
            Scope::Columns => "columns",
            Scope::Text => "text",
        }
    }

    /// Every set of scopes that can be live together; within one set a key may mean only one thing.
    pub const LIVE: &[&[Scope]] = &[
        &[Scope::Line, Scope::Field, Scope::Always],
        &[Scope::Docket, Scope::List, Scope::Global, Scope::Always],
        &[Scope::Case, Scope::List, Scope::Global, Scope::Always],
        &[Scope::Decision, Scope::List, Scope::Global, Scope::Always],
        &[Scope::Answer, Scope::List, Scope::Global, Scope::Always],
        &[Scope::Timeline, Scope::List, Scope::Global, Scope::Always],
        &[Scope::Approvals, Scope::List, Scope::Global, Scope::Always],
        &[Scope::Quarantine, Scope::List, Scope::Global, Scope::Always],
        &[Scope::Record, Scope::List, Scope::Global, Scope::Always],
        &[Scope::Entry, Scope::List, Scope::Global, Scope::Always],
        &[Scope::Confirm, Scope::Global, Scope::Always],
        &[Scope::Columns, Scope::List, Scope::Global, Scope::Always],
        &[Scope::Text, Scope::List, Scope::Global, Scope::Always],
    ];
}

/// One row of the table.
#[derive(Debug)]
pub struct Entry {
    /// The action.
    pub action: Action,
    /// Its name in the configuration, kebab-case.
    pub name: &'static str,
    /// What it does, one sentence.
    pub doc: &'static str,
    /// The default keys of each scope it is valid in; a scope may have none.
    pub keys: &'static [(Scope, &'static [&'static str])],
    /// Whether it changes what is kept: ignored until its layer has been painted, marked `!` in help.
    pub danger: bool,
}

impl Entry {
    /// Whether the action is valid in `scope`.
    pub fn valid_in(&self, scope: Scope) -> bool {
        self.keys.iter().any(|(own, _)| *own == scope)
    }
}

macro_rules! actions {
    ($( $variant:ident $name:literal $(($danger:ident))? $doc:literal [ $( $scope:ident : $($key:literal)* ),+ ] )+) => {
        /// A named, bindable intention.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action { $( #[doc = $doc] $variant, )+ }

        /// Every action, in the order help shows them.
        pub const ACTIONS: &[Entry] = &[ $( Entry {
            action: Action::$variant,
            name: $name,
            doc: $doc,
            keys: &[ $( (Scope::$scope, &[ $($key),* ]) ),+ ],
            danger: actions!(@danger $($danger)?),
        }, )+ ];

        impl Action {
            /// The action's row in the table.
            pub fn entry(self) -> &'static Entry {
                match self { $( Action::$variant => {
                    const ENTRY: Entry = Entry {
                        action: Action::$variant,
                        name: $name,
                        doc: $doc,
                        keys: &[ $( (Scope::$scope, &[ $($key),* ]) ),+ ],
                        danger: actions!(@danger $($danger)?),
                    };
                    &ENTRY
                } )+ }
            }

            /// The action with this name in the configuration.
            pub fn named(name: &str) -> Option<Action> {
                match name { $( $name => Some(Action::$variant), )+ _ => None }
            }
        }
    };
    (@danger danger) => { true };
    (@danger) => { false };
}

actions! {
    Back "back" "Goes back one step." [Always: "esc"]
    Quit "quit" "Leaves tribunal." [Global: "q", Always: "ctrl-c"]
    Help "help" "Lists the keys valid here." [Global: "?", Always: "f1"]
    Palette "palette" "Lists every action, to run one by name." [Global: ":"]
    Redraw "redraw" "Draws the whole screen anew." [Always: "ctrl-l"]
    ToggleTheme "toggle-theme" "Changes to the next theme." [Global: "ctrl-t"]
    Copy "copy" "Copies what is selected." [Global: "y"]

    Down "down" "Moves down." [List: "j" "down", Line: "down"]
    Up "up" "Moves up." [List: "k" "up", Line: "up"]
    PageDown "page-down" "Moves down one page." [List: "pgdn" "ctrl-f", Line: "pgdn"]
    PageUp "page-up" "Moves up one page." [List: "pgup" "ctrl-b", Line: "pgup"]
    HalfPageDown "half-page-down" "Moves down half a page." [List: "ctrl-d"]
    HalfPageUp "half-page-up" "Moves up half a page." [List: "ctrl-u"]
    First "first" "Moves to the first row." [List: "g" "home"]
    Last "last" "Moves to the last row." [List: "G" "end"]
    Left "left" "Moves or scrolls left." [Case: "h" "left", Text: "h" "left"]
    Right "right" "Moves or scrolls right." [Case: "l" "right", Text: "l" "right"]
    JumpToNew "jump-to-new" "Moves to what arrived above." [List: "u"]

    NextField "next-field" "Moves to the next field." [Field: "tab", Decision: "tab", Answer: "tab"]
    PreviousField "previous-field" "Moves to the previous field."
        [Field: "backtab", Decision: "backtab", Answer: "backtab"]
    Accept "accept" "Takes what is typed or chosen." [Line: "enter"]
    Submit "submit" (danger) "Sends the decision or the answer, once."
        [Field: "ctrl-s", Decision: "ctrl-s", Answer: "ctrl-s", Confirm: "ctrl-s"]
    DiscardDraft "discard-draft" "Throws away the draft of this form, asked twice."
        [Field: "f8", Decision: "X" "f8", Answer: "X" "f8"]
    Preview "preview" "Shows exactly what will be recorded or sent." [Decision: "v", Answer: "v", Field: "f2"]
    ToggleUphold "toggle-uphold" "Upholds this side, or no longer." [Decision: "space"]
    Choose "choose" "Takes or leaves the choice under the cursor." [Answer: "space", Columns: "space" "enter"]

    Open "open" "Opens what is selected."
        [Docket: "enter", Case: "enter", Timeline: "enter", Approvals: "enter", Quarantine: "enter", Answer: "enter"]
    NextTab "next-tab" "Shows the next tab." [Docket: "tab"]
    PreviousTab "previous-tab" "Shows the previous tab." [Docket: "backtab"]
    Decide "decide" "Opens the decision on this task." [Docket: "d", Case: "d", Timeline: "d", Answer: "d"]
    Answer "answer" "Answers the question this task waits for." [Docket: "a", Case: "a", Timeline: "a"]
    Timeline "timeline" "Shows everything that happened to this task." [Docket: "t", Case: "t"]
    Approvals "approvals" "Shows the approval records." [Docket: "A", Case: "A", Timeline: "A"]
    Quarantine "quarantine" "Shows the messages that could not be admitted." [Docket: "Q"]
    Filter "filter" "Types a filter." [Docket: "/", Timeline: "/", Approvals: "/"]
    Sort "sort" "Sorts by the next column." [Docket: "s"]
    ReverseSort "reverse-sort" "Turns the order around." [Docket: "S"]
    Columns "columns" "Chooses which columns are shown; remembered." [Docket: "c"]
    TogglePreview "toggle-preview" "Shows or hides the preview." [Docket: "p"]
    Refresh "refresh" "Asks for everything again." [Docket: "r" "f5", Case: "r" "f5", Decision: "r" "f5", Answer: "r" "f5"]

    NextDifference "next-difference" "Moves to the next difference." [Case: "n"]
    PreviousDifference "previous-difference" "Moves to the previous difference." [Case: "N"]
    CycleView "cycle-view" "Shows differences, the whole, or raw text." [Case: "v", Text: "v"]
    ToggleWrap "toggle-wrap" "Wraps long lines, or no longer." [Case: "w", Text: "w"]
    FocusPane "focus-pane" "Moves to the other pane." [Case: "tab"]
    NextPair "next-pair" "Compares with the next side." [Case: "]"]
    PreviousPair "previous-pair" "Compares with the previous side." [Case: "["]
    SwapSides "swap-sides" "Swaps left and right." [Case: "s"]
    NextIntent "next-intent" "Shows the next intent in conflict." [Case: "i"]
    PreviousIntent "previous-intent" "Shows the previous intent in conflict." [Case: "I"]
    Details "details" "Shows everything known of this side and what it rests on." [Case: "e"]
    CopyDigest "copy-digest" "Copies the whole digest." [Case: "Y", Decision: "Y", Approvals: "Y", Record: "Y"]
    Acknowledge "acknowledge" "Takes note of a side that arrived while you read." [Case: "c", Answer: "c" "f6", Field: "f6"]

    FilterKinds "filter-kinds" "Chooses which kinds of event are shown." [Timeline: "f"]
    CycleTime "cycle-time" "Shows time as local, UTC or relative." [Timeline: "c"]
    ToggleDuplicates "toggle-duplicates" "Folds or unfolds duplicates." [Timeline: "x"]

    Verify "verify" "Verifies the whole chain of records here." [Approvals: "V"]
    Export "export" "Says how to write the records to a file." [Approvals: "x"]
    Supersede "supersede" "Corrects this record with a new one."
        [Approvals: "s", Record: "s", Decision: "s", Answer: "s"]

    Readmit "readmit" (danger) "Delivers this message again." [Quarantine: "r", Entry: "r"]
    Drop "drop" (danger) "Drops this message, with a reason that is kept." [Quarantine: "D", Entry: "D"]
    ToggleSettled "toggle-settled" "Shows or hides entries that are settled." [Quarantine: "x"]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kebab(variant: &str) -> String {
        let mut name = String::new();
        for (at, char) in variant.char_indices() {
            if char.is_uppercase() && at > 0 {
                name.push('-');
            }
            name.extend(char.to_lowercase());
        }
        name
    }

    #[test]
    fn names_are_the_variants_in_kebab_case_and_docs_are_sentences() {
        for entry in ACTIONS {
            assert_eq!(entry.name, kebab(&format!("{:?}", entry.action)));
            assert_eq!(Action::named(entry.name), Some(entry.action));
            assert_eq!(entry.action.entry().name, entry.name);
            assert!(entry.doc.ends_with('.') && entry.doc.starts_with(char::is_uppercase), "{}", entry.doc);
        }
        assert_eq!(Action::named("no-such"), None);
    }

    #[test]
    fn what_changes_the_record_is_marked_dangerous() {
        let dangerous: Vec<_> = ACTIONS.iter().filter(|e| e.danger).map(|e| e.name).collect();
        assert_eq!(dangerous, ["submit", "readmit", "drop"]);
    }
}

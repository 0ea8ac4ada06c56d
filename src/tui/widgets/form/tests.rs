//! Fields give the answer that was filled in, and the sheet keeps the focus in view.

use ratatui::text::Line;
use serde_json::json;

use super::*;
use crate::domain::form::Form;
use crate::tui::event::{Code, Key};

fn fields() -> Fields {
    let schema = json!({
        "type": "object",
        "required": ["name", "kind"],
        "properties": {
            "name": {"type": "string", "minLength": 2},
            "kind": {"enum": ["a", "b"]},
            "many": {"type": "array", "items": {"enum": ["x", "y", "z"]}, "uniqueItems": true},
            "count": {"type": "number"},
            "sure": {"type": "boolean"},
        },
    });
    Fields::new(Form::from_schema(&schema).unwrap())
}

fn typed(fields: &mut Fields, at: usize, text: &str) {
    for char in text.chars() {
        fields.key(at, Key::plain(Code::Char(char)));
    }
}

#[test]
fn what_is_filled_in_is_the_answer_and_what_is_not_is_left_out() {
    let mut fields = fields();
    // Required ones first, then by name: name, kind, count, many, sure.
    typed(&mut fields, 0, "Bo");
    fields.step(1, true);
    assert!(fields.members().is_err(), "the cursor chooses nothing");
    fields.choose(1);
    assert_eq!(fields.members().unwrap(), [r#"kind "b""#, r#"name "Bo""#]);
    typed(&mut fields, 2, "2.5");
    fields.step(3, true);
    fields.choose(3);
    assert_eq!(fields.answer().unwrap().to_string(), r#"{"count":2.5,"kind":"b","many":["y"],"name":"Bo"}"#);
    let members = [r#"count 2.5"#, r#"kind "b""#, r#"many ["y"]"#, r#"name "Bo""#];
    assert_eq!(fields.members().unwrap(), members);
    fields.clear(3);
    fields.step(4, true);
    assert_eq!(fields.answer().unwrap().get("sure"), None);
    fields.choose(4);
    assert_eq!(fields.answer().unwrap()["sure"], json!(false));
}

#[test]
fn errors_go_to_their_fields_and_go_when_the_field_changes() {
    let mut fields = fields();
    typed(&mut fields, 0, "B");
    let errors = fields.answer().unwrap_err();
    assert_eq!(fields.set_errors(&errors), Some(1), "{errors:?}");
    fields.choose(1);
    let errors = fields.answer().unwrap_err();
    assert_eq!(fields.set_errors(&errors), Some(0), "{errors:?}");
    typed(&mut fields, 0, "o");
    assert!(fields.answer().is_ok());
    assert_eq!(fields.set_errors(&[]), None);
}

#[test]
fn a_sheet_scrolls_as_little_as_shows_the_focus() {
    let line = |n: usize| (0..n).map(|_| Line::raw("x"));
    let field = Field::line("");
    let mut sheet = Sheet::new();
    sheet.lines(line(10)).input([Line::raw("label")], &field, true).lines(line(10));
    assert_eq!(sheet.top(5, Scroll::Focus), 7);
    assert_eq!(sheet.top(30, Scroll::Focus), 0);
    assert_eq!(sheet.paged(6, Scroll::Focus, 1), Scroll::At(9));
    assert_eq!(sheet.top(6, Scroll::At(99)), 16);
}

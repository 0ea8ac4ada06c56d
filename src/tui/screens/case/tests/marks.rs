//! Where in the payload one is: elements by name, and differences marked in whole texts.

use super::*;

/// Facts of which one's revenue differs, one has a note more, and one is missing.
fn filings(revenue: u64, other: bool) -> serde_json::Value {
    let mut facts = vec![
        json!({"company": "Acme", "year": 2023, "revenue": 1_100_000, "unit": "USD"}),
        json!({"company": "Acme", "year": 2024, "revenue": revenue, "unit": "USD"}),
        json!({"company": "Beta · Co", "year": 2024, "revenue": 40, "unit": "USD"}),
    ];
    if other {
        facts[2]["note"] = json!({"by": "hand"});
        facts.push(json!({"company": "Acme\u{202e}", "year": 2025, "revenue": 7, "unit": "USD"}));
    }
    json!({"facts": facts, "currency": "EUR"})
}

fn stage() -> Stage {
    let mut stage = Stage::running();
    stage.result("M-1", "researcher-a", "2026-11-30T11:59:58Z", filings(1_204_000, false), json!([]));
    stage.result("M-2", "researcher-b", "2026-11-30T11:59:59Z", filings(1_240_000, true), json!([]));
    stage
}

#[test]
fn a_difference_says_which_element_it_is_in_beside_its_values() {
    for (name, width, height) in [("elements_120x40", 120, 40), ("elements_80x24", 80, 24)] {
        let mut stage = stage();
        let script = opened(&mut stage, width, height);
        let screen = script.screen();
        for told in ["/facts/1 · Acme, 2024 · revenue  changed", "1204000", "1240000", "<U+202E>"] {
            assert!(screen.contains(told), "{told}\n{screen}");
        }
        assert!(screen.contains("/facts/2 · \"Beta · Co\", 2024 · note  added"), "{screen}");
        assert!(is_clean(&script), "{screen}");
        assert_snapshot!(name, screen);
    }
}

#[test]
fn whole_texts_mark_what_differs_by_glyph_and_are_walked_by_difference() {
    let mut stage = stage();
    let mut script = opened(&mut stage, 120, 40);
    press(&mut stage, &mut script, "v");
    let screen = script.screen();
    assert!(screen.contains("whole  difference 1 of 3"), "{screen}");
    assert_snapshot!("whole_marked_120x40", screen);
    press(&mut stage, &mut script, "n");
    let screen = script.screen();
    assert!(
        screen.contains("whole  difference 2 of 3") && screen.contains("▸+       \"note\": {"),
        "{screen}"
    );
    press(&mut stage, &mut script, "n");
    assert!(script.screen().contains("▸+     {"), "{}", script.screen());
    press(&mut stage, &mut script, "nN");
    assert!(script.screen().contains("whole  difference 2 of 3"), "{}", script.screen());
    let mut script = opened(&mut stage, 80, 24);
    press(&mut stage, &mut script, "v<tab><tab>n");
    assert_snapshot!("whole_marked_80x24", script.screen());
    // Raw text is one line: its differences are in their own view.
    press(&mut stage, &mut script, "vN");
    assert!(!script.screen().contains("raw"), "{}", script.screen());
}

#[test]
fn marks_are_the_same_in_every_depth() {
    for (theme, depth) in [("default-dark", Depth::True), ("ansi16", Depth::Sixteen), ("mono", Depth::Mono)] {
        let mut stage = stage();
        let mut script = Script::themed(Case::new("T".into()), 120, 40, theme, depth);
        script.event(live());
        stage.serve(&mut script);
        press(&mut stage, &mut script, "v");
        assert!(script.screen().contains("~       \"revenue\": 1204000"), "{theme}\n{}", script.screen());
    }
}

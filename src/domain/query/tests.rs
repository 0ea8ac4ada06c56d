//! The filter language: what is read, what is refused and where, what it matches.

use proptest::prelude::*;

use super::*;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

fn one(input: &str) -> Test {
    let query = Query::parse(input).unwrap_or_else(|errors| panic!("{input}: {errors:?}"));
    assert_eq!(query.terms.len(), 1, "{input}");
    query.terms[0].what.clone()
}

fn globs(patterns: &[&str]) -> Vec<Glob> {
    patterns.iter().map(|pattern| Glob::from_pieces(pattern.split('*').map(str::to_owned))).collect()
}

#[test]
fn terms_are_read() {
    let table = [
        ("deploy", Test::Text("deploy".into())),
        ("\"two words\"", Test::Text("two words".into())),
        ("\"a \\\"b\\\" \\\\ c\"", Test::Text("a \"b\" \\ c".into())),
        ("12:30", Test::Text("12:30".into())),
        ("a=b", Test::Text("a=b".into())),
        ("\"state:failed\"", Test::Text("state:failed".into())),
        ("mine", Test::Mine),
        ("\"mine\"", Test::Text("mine".into())),
        ("state", Test::Text("state".into())),
        ("state:failed,denied", Test::State(vec!["failed", "denied"])),
        ("STATE:Failed", Test::State(vec!["failed"])),
        ("state:cancelled", Test::State(vec!["canceled"])),
        ("reason:input,AUTH_REQUIRED", Test::Reason(vec!["INPUT_REQUIRED", "AUTH_REQUIRED"])),
        ("reason:review,waiting", Test::Reason(vec!["needs_review", "waiting_human"])),
        ("failure:delivery", Test::Failure(vec!["delivery"])),
        ("trace:run-*", Test::Trace(globs(&["run-*"]))),
        ("task:a,b*c", Test::Task(globs(&["a", "b*c"]))),
        ("agent:\"my agent, inc\"", Test::Agent(vec![Glob::exact("my agent, inc")])),
        ("agent:\"a*\"", Test::Agent(vec![Glob::exact("a*")])),
        ("label:team=core,infra", Test::Label { key: "team".into(), values: globs(&["core", "infra"]) }),
        ("label:team", Test::Label { key: "team".into(), values: vec![] }),
        ("label:\"a=b\"=\"\"", Test::Label { key: "a=b".into(), values: vec![Glob::exact("")] }),
        ("label:url=a=b", Test::Label { key: "url".into(), values: globs(&["a=b"]) }),
        ("age>2h", Test::Age { op: Op::Over, millis: 2 * HOUR }),
        ("age<=1h30m", Test::Age { op: Op::AtMost, millis: 90 * 60_000 }),
        ("age<1w", Test::Age { op: Op::Under, millis: 7 * DAY }),
        ("candidates>2", Test::Candidates { op: Op::Over, n: 2 }),
        ("candidates:2", Test::Candidates { op: Op::Exactly, n: 2 }),
        ("candidates>=2", Test::Candidates { op: Op::AtLeast, n: 2 }),
        // 2026-01-31T00:00:00Z, from `date -u -d 2026-01-31 +%s`.
        ("since:2026-01-31", Test::Since(When::At(1_769_817_600_000))),
        ("until:2026-01-31", Test::Until(When::At(1_769_817_600_000 + DAY - 1))),
        ("since:2026-01-31T01:00:00+01:00", Test::Since(When::At(1_769_817_600_000))),
        ("since:2026-01-31T00:00:00.25Z", Test::Since(When::At(1_769_817_600_250))),
        ("since:3d", Test::Since(When::Ago(3 * DAY))),
        ("until:90s", Test::Until(When::Ago(90_000))),
    ];
    for (input, what) in table {
        assert_eq!(one(input), what, "{input}");
        let negated = Query::parse(&format!("-{input}")).unwrap();
        assert!(negated.terms[0].negated, "-{input}");
        assert_eq!(negated.terms[0].what, what, "-{input}");
    }
}

#[test]
fn terms_keep_their_place() {
    let query = Query::parse("  grün -state:failed  x").unwrap();
    let spans: Vec<_> = query.terms.iter().map(|term| term.span.clone()).collect();
    assert_eq!(spans, [2..7, 8..21, 23..24]);
    assert_eq!(Query::parse(" \t ").unwrap(), Query::default());
}

#[test]
fn mistakes_are_under_the_caret_with_a_hint() {
    let table = [
        ("stat:failed", 0..4, "there is no key `stat`", "state:needs_review,failed"),
        ("x -stte:failed", 3..7, "there is no key `stte`", "state:"),
        ("https://x", 0..5, "there is no key `https`", "quotes"),
        ("canddates>2", 0..9, "there is no key `canddates`", "candidates>2"),
        ("state:faild", 6..11, "`faild` is no state", "did you mean failed?"),
        ("state:failed,nope", 13..17, "`nope` is no state", "one of pending"),
        ("state:failed,", 12..13, "a value is missing", "both sides"),
        ("state:,failed", 6..6, "a value is missing", "both sides"),
        ("state:", 0..6, "state has no value", "write state:"),
        ("state>failed", 5..6, "state is not compared like this", "write state:"),
        ("age:2h", 3..4, "age is not compared like this", "age>2h"),
        ("age>soon", 4..8, "`soon` is no duration", "90s"),
        ("age>2", 4..5, "`2` is no duration", "90s"),
        ("age>99999999w", 4..13, "is no duration", "90s"),
        ("since:2026-02-30", 6..16, "`2026-02-30` is no date", "2026-01-31"),
        ("since:2026-01-31T10:00:00", 6..25, "is no date", "2026-01-31T09:30:00Z"),
        ("since:yesterday", 6..15, "is no date", "2d"),
        ("candidates>two", 11..14, "`two` is no number", "candidates>2"),
        ("candidates>4294967296", 11..21, "is no number", "candidates>2"),
        ("label:=x", 6..8, "the label has no key", "label:team=core"),
        ("label:team=", 6..11, "the label `team` has no value", "label:team=core"),
        ("mine:me", 4..5, "mine is not compared like this", "write mine"),
        ("failure:fatal", 8..13, "`fatal` is no failure", "protocol"),
        ("a \"b c", 2..6, "this quote is never closed", "close it"),
        ("-", 0..1, "nothing stands behind this -", "-state:failed"),
        ("\"\"", 0..2, "nothing to search for", "between the quotes"),
        ("\u{202e}x:y state:\u{202e}", 13..16, "`<U+202E>` is no state", "one of"),
    ];
    for (input, at, message, hint) in table {
        let errors = Query::parse(input).expect_err(input);
        assert_eq!(errors.len(), 1, "{input}: {errors:?}");
        assert_eq!(errors[0].at, at, "{input}: {errors:?}");
        assert!(errors[0].message.contains(message), "{input}: {errors:?}");
        assert!(errors[0].hint.contains(hint), "{input}: {errors:?}");
    }
}

#[test]
fn all_mistakes_are_told_and_the_rest_is_kept() {
    let (query, errors) = Query::parse_lenient("deploy stat:x state:failed age:2 mine");
    assert_eq!(query.to_string(), "deploy state:failed mine");
    assert_eq!(errors.iter().map(|error| error.at.start).collect::<Vec<_>>(), [7, 30]);
}

#[test]
fn input_and_terms_are_bounded() {
    assert!(Query::parse(&"x".repeat(MAX_INPUT)).is_ok());
    let (query, errors) = Query::parse_lenient(&"x".repeat(MAX_INPUT + 1));
    assert_eq!((query.terms.len(), errors.len()), (0, 1));
    assert!(Query::parse(&"x ".repeat(MAX_TERMS)).is_ok());
    let (query, errors) = Query::parse_lenient(&"x ".repeat(MAX_TERMS + 1));
    assert_eq!((query.terms.len(), errors.len(), errors[0].at.start), (MAX_TERMS, 1, 2 * MAX_TERMS));
}

struct Case;

impl Row for Case {
    fn state(&self) -> &str {
        "needs_review"
    }
    fn has_reason(&self, reason: &str) -> bool {
        ["needs_review", "stuck"].contains(&reason)
    }
    fn trace(&self) -> &str {
        "run-7f"
    }
    fn task(&self) -> &str {
        "deploy-web-eu"
    }
    fn agent(&self) -> Option<&str> {
        Some("planner")
    }
    fn label(&self, key: &str) -> Option<&str> {
        (key == "team").then_some("core")
    }
    fn since_ms(&self) -> Option<i64> {
        Some(1_769_817_600_000)
    }
    fn candidates(&self) -> u32 {
        3
    }
    fn failure(&self) -> Option<&str> {
        None
    }
    fn mine(&self) -> bool {
        false
    }
    fn text_contains(&self, text: &str) -> bool {
        contains_ignoring_case("Deploy the Übung to Straße 5", text)
    }
}

#[test]
fn rows_are_matched() {
    let now = 1_769_817_600_000 + 3 * HOUR;
    let table = [
        ("", true),
        ("deploy ÜBUNG", true),
        ("übung", true),
        ("\"the Übung\"", true),
        ("deploy nothing", false),
        ("-nothing", true),
        ("state:failed,needs_review", true),
        ("-state:needs_review", false),
        ("reason:stuck", true),
        ("reason:input", false),
        ("trace:run-*", true),
        ("trace:run", false),
        ("task:deploy-*-eu", true),
        ("task:*web*", true),
        ("task:*WEB*", false),
        ("task:deploy-web-eu*", true),
        ("agent:*", true),
        ("agent:plan", false),
        ("label:team=c*", true),
        ("label:team", true),
        ("label:owner", false),
        ("-label:owner=*", true),
        ("age>2h", true),
        ("age>3h", false),
        ("age>=3h", true),
        ("age<4h", true),
        ("since:2026-01-31", true),
        ("since:2h", false),
        ("since:4h", true),
        ("until:2026-01-31", true),
        ("until:2026-01-30", false),
        ("until:3h", true),
        ("candidates>2", true),
        ("candidates>3", false),
        ("candidates=3", true),
        ("failure:failed", false),
        ("-failure:failed", true),
        ("mine", false),
        ("-mine", true),
    ];
    for (input, holds) in table {
        assert_eq!(Query::parse(input).unwrap().matches(&Case, now), holds, "{input}");
    }
}

#[test]
fn globs_match_like_the_textbook() {
    let table = [
        ("", "", true),
        ("", "a", false),
        ("*", "", true),
        ("a*a", "a", false),
        ("a*a", "aa", true),
        ("*ab", "aab", true),
        ("*a*b*", "xxbxa", false),
        ("*a*b*", "xaxb", true),
        ("ab*ab", "ab", false),
        ("a**b", "ab", true),
    ];
    for (pattern, text, fits) in table {
        assert_eq!(globs(&[pattern])[0].matches(text), fits, "{pattern} on {text}");
    }
}

#[test]
fn completions_fit_the_cursor() {
    let texts = |input: &str| -> Vec<String> {
        Query::completions(input, input.len()).into_iter().map(|completion| completion.text).collect()
    };
    assert_eq!(texts("s"), ["state:", "since:"]);
    assert_eq!(texts("x -c"), ["candidates>"]);
    assert_eq!(texts("m"), ["mine"]);
    assert_eq!(texts("").len(), words::KEYS.len());
    assert_eq!(texts("state:f"), ["failed"]);
    assert_eq!(texts("state:failed,re"), ["ready", "retry_wait"]);
    assert_eq!(texts("reason:in"), ["INPUT_REQUIRED"]);
    assert_eq!(texts("age>1"), ["15m", "1h", "1d", "1w"]);
    assert!(texts("task:x").is_empty());
    assert!(texts("\"s").is_empty());
    let completion = &Query::completions("grün state:failed,d x", 19)[0];
    assert_eq!((completion.replace.clone(), completion.text.as_str()), (19..19, "pending"));
    let completion = &Query::completions("grün state:failed,d x", 20)[0];
    assert_eq!((completion.replace.clone(), completion.text.as_str()), (19..20, "denied"));
    assert!(Query::completions("ü", 1).len() > 1, "inside a character is before it");
}

fn glob() -> impl Strategy<Value = Glob> {
    proptest::collection::vec("[a-z*\"\\\\, =\u{0}é-]{0,4}", 1..4).prop_map(Glob::from_pieces)
}

fn op() -> impl Strategy<Value = Op> {
    proptest::sample::select(vec![Op::Over, Op::AtLeast, Op::Under, Op::AtMost])
}

fn names(all: Vec<&'static str>) -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(proptest::sample::select(all), 1..4)
}

fn test() -> impl Strategy<Value = Test> {
    let globs = || proptest::collection::vec(glob(), 1..4);
    prop_oneof![
        "\\PC{1,8}".prop_map(Test::Text),
        "[mine:<> \"\\\\\n\u{0}-]{1,6}".prop_map(Test::Text),
        names(Query::states().collect()).prop_map(Test::State),
        names(Query::reasons().collect()).prop_map(Test::Reason),
        names(Query::failures().collect()).prop_map(Test::Failure),
        globs().prop_map(Test::Trace),
        globs().prop_map(Test::Task),
        globs().prop_map(Test::Agent),
        ("[a-z=,\" -]{1,5}", proptest::collection::vec(glob(), 0..3))
            .prop_map(|(key, values)| Test::Label { key, values }),
        (op(), 0..100 * 365 * DAY).prop_map(|(op, millis)| Test::Age { op, millis }),
        (-62_135_596_800_000i64..253_402_207_200_000).prop_map(|at| Test::Since(When::At(at))),
        (0..100 * 365 * DAY).prop_map(|millis| Test::Until(When::Ago(millis))),
        (op(), any::<u32>()).prop_map(|(op, n)| Test::Candidates { op, n }),
        Just(Test::Mine),
    ]
}

proptest! {
    #[test]
    fn the_canonical_form_parses_to_the_same(terms in proptest::collection::vec((any::<bool>(), test()), 0..6)) {
        let terms = terms.into_iter().map(|(negated, what)| Term { negated, span: 0..0, what }).collect();
        let query = Query { terms };
        let shown = query.to_string();
        prop_assert_eq!(Query::parse(&shown), Ok(query), "{}", shown);
    }

    #[test]
    fn nothing_panics_and_carets_are_on_characters(input in any::<String>(), cursor in 0usize..64) {
        let (query, errors) = Query::parse_lenient(&input);
        for error in &errors {
            prop_assert!(input.get(error.at.clone()).is_some(), "{:?}", error);
        }
        for term in &query.terms {
            prop_assert!(input.get(term.span.clone()).is_some());
        }
        prop_assert_eq!(Query::parse(&query.to_string()), Ok(query.clone()));
        query.matches(&Case, i64::MIN);
        for completion in Query::completions(&input, cursor) {
            prop_assert!(input.get(completion.replace).is_some());
        }
    }

    #[test]
    fn near_misses_do_not_panic(input in "(-?(state|age|label|since|until|candidates|task|é|mine)?[:<>=,\"*\\\\]{0,3}[a-z0-9é-]{0,6} ?){0,6}") {
        let (query, errors) = Query::parse_lenient(&input);
        for error in &errors {
            prop_assert!(input.get(error.at.clone()).is_some(), "{:?}", error);
        }
        prop_assert_eq!(Query::parse(&query.to_string()), Ok(query));
    }
}

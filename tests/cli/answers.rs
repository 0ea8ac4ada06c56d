//! Answers on the command line: corrected, resumed, visible afterwards; and what one may do.

use crate::common;
use crate::house::Home;
use serde_json::json;

#[test]
fn an_answer_is_visible_afterwards() {
    let home = Home::new();
    let v = home.question("T-4", json!({"prompt": "publish?", "need": "human_approval"}));
    let args = ["answer", "T-4", "--deny", "--expect-version", &v.to_string(), "--reason", "not yet ready"];
    home.run(&args).code(0);
    let v = home.question("T-3", json!({"prompt": "why?"}));
    std::fs::write(home.path("words.txt"), "The filing\u{202e} says so.\n").unwrap();
    let version = v.to_string();
    let args =
        ["answer", "T-3", "--file", "words.txt", "--expect-version", &version, "--reason", "it is known"];
    home.run(&args).code(0);
    let v = home.conflict("T-20");
    home.decide("T-20", v, &["--uphold", "3"]).code(0);
    let listed = home.run(&["approvals"]).code(0).out;
    let row = |task: &str| listed.lines().find(|l| l.contains(task)).unwrap().to_owned();
    assert!(row("T-4").contains(" denied "), "{listed}");
    assert!(row("T-3").contains(" answered "), "{listed}");
    assert!(!row("T-20").contains("answered"), "{listed}");
    let show = |task: &str| home.run(&["show", task]).code(0).out;
    let denied = show("T-4");
    assert!(denied.contains("answer: denied") && denied.contains("not yet ready"), "{denied}");
    let words = show("T-3");
    assert!(words.contains("answer: answered") && words.contains("says so."), "{words}");
    assert!(!words.contains('\u{202e}'), "what hides is revealed: {words}");
    let upheld = show("T-20");
    assert!(upheld.contains("upheld: #3 M-b from researcher-b"), "{upheld}");
    assert!(upheld.contains("read both sides"), "{upheld}");
}

/// Whatever is said of the answer itself, that it comes too late is said first, with when and what to do.
#[test]
fn an_expired_question_says_when_and_what_to_do() {
    let home = Home::new();
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    let past = "2026-01-31T12:00:00.1234567890Z";
    let v = home
        .question("T-1", json!({"prompt": "how many?", "schema": schema, "expires_at": past}))
        .to_string();
    for answer in [&["--set", "n=3"][..], &["--set", "n=many"], &["--set", "m=3"], &["--approve"], &[]] {
        let args = ["answer", "T-1", "--expect-version", &v, "--reason", "counted", "--json"];
        let refusal = home.run(&[&args[..], answer].concat()).code(4).refusal();
        assert_eq!(refusal["error"], "not_waiting");
        let message = refusal["message"].as_str().unwrap();
        let cancel = format!("`tribunal decide T-1 --cancel --expect-version {v} --reason …`");
        for words in ["question i2 expired at 2026-01-31T12:00:00.123Z", &cancel, "have agent-a ask anew"] {
            assert!(message.contains(words), "{words}: {message}");
        }
    }
    home.run(&["decide", "T-1", "--cancel", "--expect-version", &v, "--reason", "too late"]).code(0);
}

#[test]
fn an_answer_is_corrected_by_another() {
    let home = Home::new();
    let v = home.question("T-4", json!({"prompt": "publish?", "need": "human_approval"}));
    let answer = |version: u64, more: &[&str]| {
        let version = version.to_string();
        let mut args = vec!["answer", "T-4", "--expect-version", &version, "--reason", "read it", "--json"];
        args.extend(more);
        home.run(&args)
    };
    let first = answer(v, &["--approve"]).code(0).one();
    let id = first["record"]["approval_id"].as_str().unwrap();
    let version = home.version("T-4");
    answer(version, &["--deny"]).code(4);
    let key = ["--deny", "--supersedes", id, "--idempotency-key", "k-2"];
    let second = answer(version, &key).code(0).one();
    assert_eq!(second["record"]["supersedes"], json!(id));
    assert_eq!(second["record"]["interruption"]["id"], "i2");
    assert_eq!(home.show("T-4")["decided"]["input"]["approved"], json!(false));
    assert_eq!(answer(version, &key).code(0).one()["outcome"], "replayed");
}

#[test]
fn a_decision_resumes_where_the_question_says() {
    let home = Home::new();
    let ask = json!({"prompt": "publish?", "need": "human_approval", "resume": "after-review"});
    let v = home.question("T-1", ask.clone()).to_string();
    let answer = [
        "answer",
        "T-1",
        "--approve",
        "--expect-version",
        &v,
        "--reason",
        "read it",
        "--json",
        "--idempotency-key",
        "k-1",
    ];
    let made = home.run(&answer).code(0).one();
    assert_eq!(made["record"]["resume"]["idempotency_key"], "after-review");
    assert_eq!(home.run(&answer).code(0).one()["outcome"], "replayed");
    let v = home.question("T-2", ask);
    let canceled = home.decide("T-2", v, &["--cancel"]).code(0).one();
    assert_ne!(canceled["record"]["resume"]["idempotency_key"], "after-review", "nothing resumes");
}

#[test]
fn what_one_may_do_is_told_as_commands() {
    let home = Home::new();
    let show = |task: &str| home.run(&["show", task]).code(0).out;
    let v = home.question("T-4", json!({"prompt": "publish?", "need": "human_approval"}));
    let asked = show("T-4");
    let answer = format!("tribunal answer T-4 --approve --expect-version {v} --reason …");
    let cancel = format!("tribunal decide T-4 --cancel --expect-version {v} --reason …");
    assert!(asked.contains(&answer) && asked.contains(&cancel), "{asked}");
    assert!(!asked.contains("tribunal release") && !asked.contains("tribunal claim"), "{asked}");
    assert_eq!(home.ingest(&[common::asks("T-7")])[0]["outcome"], "accepted");
    home.transition("T-7", "ready");
    assert!(show("T-7").contains("tribunal claim T-7 --worker NAME"));
    home.run(&["claim", "T-7", "--worker", "w"]).code(0);
    home.run(&["reserve-effect", "T-7", "--key", "pay", "--target", "bank", "--lease", "1"]).code(0);
    let held = show("T-7");
    assert!(held.contains("tribunal release T-7 --lease 1 --reason …"), "{held}");
    let commit = "tribunal commit-effect T-7 --key pay --target bank --digest DIGEST --lease 1";
    assert!(held.contains(commit), "{held}");
}

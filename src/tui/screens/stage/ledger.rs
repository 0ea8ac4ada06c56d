//! The ledger of a test: pages of records made as they are asked for.

use crate::coordinator::{Approval, LedgerPage, LedgerPlace, LedgerRequest};
use crate::domain::ledger::Judged;

/// Records that `ledger` looks at for one page.
const LOOKED_AT: usize = 1000;

/// A page of `head` records, as it is asked for.
pub(in crate::tui::screens) fn ledger(
    head: u64,
    make: impl Fn(u64) -> Approval,
    request: &LedgerRequest,
) -> LedgerPage {
    assert!((1..=1000).contains(&request.limit), "{request:?}");
    let numbers: Box<dyn Iterator<Item = u64>> = match request.from {
        LedgerPlace::After(number) => Box::new(number + 1..=head),
        LedgerPlace::Before(number) => Box::new((1..number.min(head + 1)).rev()),
    };
    let place = |number| match request.from {
        LedgerPlace::After(_) => LedgerPlace::After(number),
        LedgerPlace::Before(_) => LedgerPlace::Before(number),
    };
    let (mut rows, mut numbers, mut looked_at) = (Vec::new(), numbers.peekable(), 0);
    while let Some(number) = numbers.next() {
        let one = make(number);
        let ours = request.task.as_ref().is_none_or(|task| *task == one.record.task_id);
        looked_at += usize::from(ours);
        let asked = Judged { record: &one.record, me: "ann" };
        if ours && request.query.matches(&asked, 1_796_040_271_000) {
            rows.push(one);
        }
        if rows.len() == request.limit || looked_at == LOOKED_AT {
            return LedgerPage { rows, next: numbers.peek().map(|_| place(number)) };
        }
    }
    LedgerPage { rows, next: None }
}

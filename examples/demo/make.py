#!/usr/bin/env python3
"""Writes the demo's story: envelope files and the steps between them. Run it here after a change; it is deterministic.

Every envelope line is a valid message as it stands (`tribunal ingest FILE` takes it). `tribunal demo` moves the whole
story so that it ends now, which changes its times, and so the digests of payloads that hold one.
"""
import datetime, hashlib, json, random

rnd = random.Random(20)
END = "2026-11-30T12:00:00Z"


def ago(minutes, seconds=0):
    then = datetime.datetime(2026, 11, 30, 12) - datetime.timedelta(seconds=int(minutes * 60) + seconds)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def jcs(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


SCHEMES = {
    "jcs-sha256/1": jcs,
    "python-sorted-json/1": lambda v: json.dumps(v, sort_keys=True).encode(),
    "raw-sha256/1": lambda v: json.dumps(v, separators=(",", ":"), ensure_ascii=False).encode(),
}


class Story:
    def __init__(self, name):
        self.name, self.lines, self.n, self.now = name, [], 0, None

    def clock(self, minutes):
        if minutes != self.now:
            self.now = minutes
            self.lines.append({"step": "clock", "at": ago(minutes)})

    def say(self, kind, task, trace, sender, key, payload, minutes, id=None, **more):
        self.n += 1
        self.clock(minutes)
        scheme = more.pop("scheme", "jcs-sha256/1")
        envelope = {
            "message_id": id or "M-%s-%d" % (self.name, self.n), "trace_id": trace, "task_id": task,
            "sender": sender, "recipient": "coordinator", "type": kind, "schema_version": "1",
            "created_at": more.pop("claimed", ago(minutes, 4)), "idempotency_key": key,
            "payload_digest": "sha256:" + hashlib.sha256(SCHEMES[scheme](payload)).hexdigest(),
            "payload": payload, "evidence_refs": more.pop("evidence", []),
        }
        if scheme != "jcs-sha256/1":
            envelope["digest_scheme"] = scheme
        envelope.update(more)
        self.lines.append(envelope)
        return envelope

    def again(self, envelope, **change):
        self.lines.append({**envelope, **change})

    def ask(self, task, trace, goal, minutes, sender="planner", **more):
        self.clock(minutes)
        payload = {"goal": goal}
        for name in ("priority", "deadline"):
            if name in more:
                payload[name] = more.pop(name)
        return self.say("task_request", task, trace, sender, task + ":request", payload, minutes, **more)

    def step(self, step, task, **more):
        self.lines.append({"step": step, "task": task, **more})

    def run(self, task, worker, ttl="30m"):
        self.step("transition", task, to="ready", reason="planned")
        self.step("claim", task, worker=worker, ttl=ttl)

    def write(self):
        with open(self.name + ".jsonl", "w") as f:
            for line in self.lines:
                f.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


def evidence(uri, content=None, **more):
    if content is None:
        return uri
    return {"uri": uri, "digest": "sha256:" + hashlib.sha256(content.encode()).hexdigest(), "size": len(content), **more}


# ---- a research run with a contradictory fact table ----
s = Story("01-research")
companies = ["Aldren", "Birkholm", "Castelnau", "Dovrefjell", "Eastmoor", "Fennimore", "Grünwald", "Halvorsen", "Iroise"]
facts = [{
    "company": companies[i % len(companies)], "year": 2020 + i // len(companies), "currency": "EUR",
    "revenue": rnd.randrange(200_000, 9_000_000, 1000), "employees": rnd.randrange(20, 900),
    "source": "10-K p. %d" % rnd.randrange(12, 88),
} for i in range(45)]
facts[41].update(revenue=1_204_000)
a = {"table": "revenue by company", "facts": facts, "notes": "All figures as filed; restated years are marked.", "confidence": 0.92}
other = json.loads(json.dumps(facts))
other[41].update(revenue=1_240_000)
del other[41]["source"]
other[7]["employees"] += 14
other.insert(20, {"company": "Jaren", "year": 2022, "currency": "EUR", "revenue": 412_000, "employees": 31, "source": "press release"})
b = {**a, "facts": other, "notes": "All figures as filed; restated years are not marked.", "method": None}
s.ask("T-20", "R-7", "Collect evidence: revenue by company from the annual filings, 2020 to 2024", 171, priority=3, deadline=ago(-360))
s.run("T-20", "researcher-a")
s.say("task_progress", "T-20", "R-7", "researcher-a", "R-7:T-20:p1", {"done": 12, "of": 45}, 166)
filing = "company,year,revenue\nFennimore,2024,1204000\n"
one = s.say("task_result", "T-20", "R-7", "researcher-a", "R-7:T-20:attempt-1", a, 134, lease_version=1, attempt=1,
            evidence=[evidence("file:filings/fennimore-2024.csv", filing, media_type="text/csv", title="Fennimore, annual filing 2024"),
                      "https://filings.example/fennimore/2024/10-k#p31"], labels={"team": "research"})
s.again(one)
s.again(one, message_id="M-research-retry", attempt=2)
s.clock(132)
two = s.say("task_result", "T-20", "R-7", "researcher-b", "R-7:T-20:attempt-1", b, 132, claimed=ago(135), attempt=1,
            evidence=[evidence("file:filings/fennimore-2024.csv", filing.replace("1204000", "1240000"), media_type="text/csv")])
s.again(two)
s.ask("T-21", "R-7", "Summarise the risk section of the Fennimore filing in one paragraph", 160)
s.run("T-21", "summarizer-1")
text = ("Fennimore reports that its principal risks are supplier concentration, a covenant on the 2026 notes, and exposure to "
        "freight prices; management considers the first %s and expects %s over the next two quarters.")
for i, (m, (one, two)) in enumerate([(98, ("material", "some relief")), (96, ("moderate", "some relief")), (61, ("material", "no relief"))]):
    s.clock(m)
    s.say("task_result", "T-21", "R-7", "summarizer-%d" % (i + 1), "R-7:T-21:summary", {
        "summary": text % (one, two), "sentences": 1, "language": "en", "score": [0.81, 0.79, 0.8][i]}, m,
        evidence=["https://filings.example/fennimore/2024/10-k#item1a"], **({"lease_version": 1} if i == 0 else {}))
s.ask("T-22", "R-7", "Check that every figure of the table carries its page", 150)
s.write()

# ---- payments: a receipt that differs, a refund that waits, a charge of unknown fate ----
s = Story("02-payments")
s.ask("PAY-118", "PAY", "Pay invoice 2026-0417 of Grünwald Logistik, 1,240.00 EUR", 320, priority=5, labels={"team": "payments"})
s.run("PAY-118", "payer")
s.step("reserve_effect", "PAY-118", key="pay:2026-0417", target="bank:DE02-grunwald", lease=1)
s.say("receipt", "PAY-118", "PAY", "payer", "PAY-118:receipt", {"bank_ref": "SCT-77120", "amount": "1240.00", "currency": "EUR"}, 312,
      effect={"key": "pay:2026-0417", "target": "bank:DE02-grunwald"}, evidence=["https://bank.example/sct/SCT-77120"])
s.say("task_result", "PAY-118", "PAY", "payer", "PAY-118:done", {"status": "paid", "bank_ref": "SCT-77120"}, 311, lease_version=1)
s.clock(47)
s.say("receipt", "PAY-118", "PAY", "bank-bridge", "PAY-118:receipt-2", {"bank_ref": "SCT-77120", "amount": "1204.00", "currency": "EUR"}, 47,
      effect={"key": "pay:2026-0417", "target": "bank:DE02-grunwald"}, evidence=["https://bank.example/statement/2026-11-30"])
s.ask("REF-9", "PAY", "Refund order 88412: the customer received a damaged item", 58, priority=4, labels={"team": "payments"})
s.run("REF-9", "refund-bot")
s.say("human_request", "REF-9", "PAY", "refund-bot", "REF-9:ask", {
    "prompt": "Refund 412.50 EUR to the original card for order 88412? The photo shows a cracked housing; the limit for refunds without a person is 100 EUR.",
    "need": "human_approval", "action": "refund 412.50 EUR", "scope": "order 88412 only", "expires_at": ago(-180),
    "resume": "REF-9:refund", "status_by": "polling"}, 41, evidence=["file:photos/88412.jpg"])
s.ask("PAY-121", "PAY", "Pay invoice 2026-0420 of Halvorsen AS, 310.00 EUR", 95, labels={"team": "payments"})
s.run("PAY-121", "payer", ttl="10m")
s.step("reserve_effect", "PAY-121", key="pay:2026-0420", target="bank:NO11-halvorsen", lease=1)
s.write()

# ---- questions to people ----
s = Story("03-questions")
s.ask("T-31", "R-9", "Quarterly report for the board", 52)
s.run("T-31", "reporter")
s.say("human_request", "T-31", "R-9", "reporter", "T-31:region", {
    "prompt": "Which region should the report cover, and from which month on?", "need": "business_input", "action": "write the report",
    "schema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "title": "Scope of the report",
               "properties": {
                   "region": {"title": "Region", "oneOf": [{"const": "north", "title": "North"}, {"const": "south", "title": "South"}, {"const": "all", "title": "All regions"}]},
                   "from": {"title": "First month", "type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])$", "description": "as 2026-07"},
                   "pages": {"title": "At most this many pages", "type": "integer", "minimum": 1, "maximum": 60, "default": 12},
                   "draft": {"title": "Mark it as a draft", "type": "boolean", "default": True}},
               "required": ["region", "from"], "additionalProperties": False},
    "expires_at": ago(-720)}, 41)
s.ask("T-32", "R-9", "Rename the archive folders", 44)
s.run("T-32", "archivist")
s.say("human_request", "T-32", "R-9", "archivist", "T-32:how", {"prompt": "Two folders are called “2019 final”. Which one should keep the name?"}, 26)
s.ask("T-33", "R-9", "Import contracts from the shared drive", 31)
s.run("T-33", "importer")
s.say("human_request", "T-33", "R-9", "importer", "T-33:grant", {
    "prompt": "The importer needs read access to the contracts folder.", "need": "machine_credentials", "action": "read 212 contracts",
    "scope": "drive.read on /contracts", "link": "https://auth.example/grant?request=t33", "expires_at": ago(-18)}, 12)
s.ask("T-35", "R-9", "Book a room for the review", 300)
s.run("T-35", "secretary")
s.say("human_request", "T-35", "R-9", "secretary", "T-35:when", {"prompt": "Thursday at 10 or Friday at 14?", "expires_at": ago(60)}, 290)
s.write()

# ---- what is stuck, late, or changed its digest scheme ----
s = Story("04-trouble")
s.ask("T-07", "R-2", "Fetch filings of the last ten years", 1640)
s.run("T-07", "fetcher-3", ttl="20m")
s.say("task_progress", "T-07", "R-2", "fetcher-3", "T-07:p1", {"fetched": 311, "of": 1200}, 1630, lease_version=1)
s.ask("T-12", "R-2", "Translate the summary into Norwegian", 420)
s.run("T-12", "translator")
s.say("task_result", "T-12", "R-2", "translator", "T-12:1", {"text": "Omsetningen økte med fire prosent.", "language": "nb"}, 402, lease_version=1)
s.clock(388)
s.say("task_failure", "T-12", "R-2", "translator", "T-12:watchdog", {"category": "delivery", "message": "stream closed before the last chunk"}, 388, lease_version=1)
s.ask("T-14", "R-2", "Index the downloaded filings", 240)
s.run("T-14", "indexer")
s.say("task_failure", "T-14", "R-2", "indexer", "T-14:1", {"category": "failed", "message": "index is locked", "retryable": True, "retry_at": ago(200)}, 232, lease_version=1)
s.ask("T-40", "R-4", "Score the supplier list", 210)
s.run("T-40", "scorer-py")
scores = {"suppliers": [{"id": i, "score": round(rnd.uniform(0, 10), 2)} for i in range(12)], "model": "v3"}
s.say("task_result", "T-40", "R-4", "scorer-py", "T-40:scores", scores, 190, scheme="python-sorted-json/1", lease_version=1)
s.clock(188)
s.say("task_result", "T-40", "R-4", "scorer-rs", "T-40:scores", scores, 188)
s.clock(150)
changed = json.loads(json.dumps(scores))
changed["suppliers"][4]["score"] = 9.99
s.say("task_result", "T-40", "R-4", "scorer-sh", "T-40:scores", changed, 150, scheme="raw-sha256/1")
s.write()

# ---- text that lies ----
s = Story("05-hostile")
s.ask("T-66", "R-6", "Approve \u001b[2K\u001b[1G\u001b[32malready approved\u001b[0m the deployment", 75, sender="agent\u202egnp.exe")
s.run("T-66", "deployer")
s.say("task_result", "T-66", "R-6", "deployer", "T-66:plan", {"image": "registry.example/app:1.4.2", "note": "safe\u200b to deploy"}, 70, lease_version=1)
s.clock(68)
s.say("task_result", "T-66", "R-6", "dep\u043boyer", "T-66:plan", {
    "image": "registry.example/app:1.4.2\u202e3.4.1", "note": "safe to deploy\u001b]52;c;cm0gLXJmIC8=\u0007",
    "link": "\u001b]8;;http://evil.example\u0007docs\u001b]8;;\u0007", "tag": "ok\U000e0041\U000e0042", "tab": "a\tb\r\nc"}, 68,
    evidence=["https://filings.example/\u202efdp.x"])
s.write()

# ---- what was decided before ----
s = Story("06-decided")
s.ask("T-02", "R-1", "Pick the exchange rate for the annual statement", 2900)
s.run("T-02", "rates-a")
s.say("task_result", "T-02", "R-1", "rates-a", "T-02:rate", {"pair": "EUR/NOK", "rate": "11.7105", "date": "2026-11-27"}, 2890, lease_version=1)
s.clock(2880)
s.say("task_result", "T-02", "R-1", "rates-b", "T-02:rate", {"pair": "EUR/NOK", "rate": "11.7150", "date": "2026-11-27"}, 2880)
s.clock(2700)
s.step("decide", "T-02", decision="ready", uphold=[3], reason="The central bank published 11.7150.")
s.clock(2690)
s.step("decide", "T-02", decision="ready", uphold=[2], reason="Misread: 11.7150 was the day before.", supersedes="latest")
s.step("claim", "T-02", worker="rates-a", ttl="30m")
s.say("task_result", "T-02", "R-1", "rates-a", "T-02:rate", {"pair": "EUR/NOK", "rate": "11.7105", "date": "2026-11-27"}, 2680, lease_version=2)
s.ask("T-03", "R-1", "Delete the staging database", 1500)
s.run("T-03", "janitor")
s.say("human_request", "T-03", "R-1", "janitor", "T-03:sure", {"prompt": "Delete staging-7 with 41 GB?", "need": "human_approval"}, 1490)
s.clock(1440)
s.step("decide", "T-03", decision="canceled", reason="Still used by the payments team.")
s.write()

# ---- what was put aside ----
s = Story("07-quarantine")
s.clock(22)
bad = s.say("task_result", "T-20", "R-7", "researcher-c", "R-7:T-20:attempt-1", {"facts": []}, 22)
bad["payload_digest"] = "sha256:" + "0" * 64
s.say("task_result", "T-99", "R-8", "wanderer", "T-99:1", {"answer": 42}, 21)
s.again({**s.lines[-1]})
missing = s.say("task_progress", "T-20", "R-7", "researcher-c", "p", {"done": 1}, 20)
del missing["recipient"]
s.lines.append({"step": "raw", "text": "{\"message_id\":\"M-broken\",\"task_id\":\"T-20\",\"payload\":{\"a\":1,\"a\":2}}"})
s.write()

# ---- two hundred quiet tasks ----
s = Story("08-quiet")
verbs = ["Crawl", "Embed", "Classify", "Deduplicate", "Archive"]
for i in range(1, 201):
    start = 640 - 3 * i if i <= 180 else 20 - (i - 180) * 0.5
    task, trace = "Q-%03d" % i, "BATCH-%d" % (i // 50)
    s.ask(task, trace, "%s document %d" % (verbs[i % 5], 1000 + i), start, labels={"team": "batch"})
    s.run(task, "worker-%d" % (i % 7), ttl="2h")
    if i <= 180:
        s.say("task_result", task, trace, "worker-%d" % (i % 7), task + ":1", {"document": 1000 + i, "tokens": rnd.randrange(200, 9000)}, start - 1, lease_version=1)
s.write()

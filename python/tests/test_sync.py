"""The blocking API: requirement A's class, and the whole engine."""

import gc
import math
import threading
import time
import weakref

import harness
import programs
import pytest

import brim
import brim.testing
from brim import Check, Limit, Limiter, Limits, RateLimiter


@pytest.fixture
def rate_limiter(redis_server):
    with RateLimiter(redis_server.url, store_timeout_ms=5000) as one:
        yield one


def test_a1_one_check_is_one_script(redis_server, rate_limiter):
    rate_limiter.check("warm", 5, 60)  # connects, and loads the scripts
    with harness.Monitor(redis_server) as monitor:
        assert rate_limiter.check("user_8421", 5, 60) == (True, 4, 0)
    assert len(monitor.commands) == 1 and len(monitor.named("EVALSHA")) == 1
    assert redis_server.client.keys("*8421*") == [b"ratelimit:user_8421:60"]
    assert redis_server.client.zcard("ratelimit:user_8421:60") == 1
    assert 60 < redis_server.client.ttl("ratelimit:user_8421:60") <= 61


def test_a2_twenty_at_once_are_ten(rate_limiter):
    def ask(_, ready):
        ready()
        return rate_limiter.check("user_8421", 10, 60)[0]

    assert sorted(harness.together(20, ask)) == [False] * 10 + [True] * 10


def test_a2_after_the_window_ten_more(manual_clock):
    limiter = RateLimiter("memory://", clock=manual_clock)
    assert [limiter.check("user_8421", 10, 60)[0] for _ in range(20)] == [True] * 10 + [False] * 10
    manual_clock.advance(61)
    assert [limiter.check("user_8421", 10, 60)[0] for _ in range(20)] == [True] * 10 + [False] * 10


def test_a3_retry_after_is_the_time_until_the_oldest_leaves(manual_clock):
    limiter = RateLimiter("memory://", clock=manual_clock)
    assert limiter.check("u", 1, 60) == (True, 0, 0)
    assert limiter.check("u", 1, 60) == (False, 0, 60)
    manual_clock.advance(0.5)
    assert limiter.check("u", 1, 60) == (False, 0, 60)
    manual_clock.advance(59)
    assert limiter.check("u", 1, 60) == (False, 0, 1)
    manual_clock.advance(0.499)
    assert limiter.check("u", 1, 60) == (False, 0, 1)
    manual_clock.advance(0.001)
    assert limiter.check("u", 1, 60) == (True, 0, 0)


def test_a5_another_tier_is_another_budget_on_the_same_key(rate_limiter, redis_server):
    for _ in range(5):
        assert rate_limiter.check("user_8421", 5, 60)[0]
    assert rate_limiter.check("user_8421", 5, 60)[0] is False
    assert rate_limiter.check("user_8421", 60, 60) == (True, 54, 0)
    assert redis_server.client.keys() == [b"ratelimit:user_8421:60"]


def test_a6_the_refusing_window_is_told_and_the_longer_is_not_read(redis_server):
    with Limiter(redis_server.url, store_timeout_ms=5000) as limiter:
        limits = "1 per minute; 1 per day"
        assert limiter.check("u", limits).allowed
        with harness.Monitor(redis_server) as monitor:
            refused = limiter.check("u", limits)
    assert (refused.allowed, refused.window, len(refused.lines)) == (False, "minute", 1)
    assert monitor.lua and not [line for line in monitor.lua if "86400" in line]


def test_a7_an_idle_key_goes_with_its_window(rate_limiter, redis_server):
    rate_limiter.check("u", 5, 0.05)
    key = "ratelimit:u:50ms"
    assert redis_server.client.pttl(key) <= 1050
    harness.eventually(lambda: not redis_server.client.exists(key), "the key is gone")


def test_a8_the_kill_switch_of_the_environment_is_seen_by_the_next_check(rate_limiter, redis_server, monkeypatch):
    rate_limiter.check("warm", 5, 60)
    redis_server.fresh()
    monkeypatch.setenv("RATE_LIMIT_DISABLED", "true")
    with harness.Monitor(redis_server) as monitor:
        assert [rate_limiter.check("u", 5, 60) for _ in range(10)] == [(True, 5, 0)] * 10
    assert monitor.commands == [] and rate_limiter.disabled
    monkeypatch.delenv("RATE_LIMIT_DISABLED")
    assert rate_limiter.check("u", 5, 60) == (True, 4, 0)


def test_a8_the_flag_at_run_time(limiter):
    limiter.disabled = True
    decision = limiter.check("u", "0 per minute")
    assert (decision.allowed, decision.reason, decision.remaining) == (True, "kill_switch", 0)
    limiter.disabled = False
    assert limiter.check("u", "0 per minute").reason == "cost_exceeds_limit"


def test_a_limit_of_nothing_refuses_and_says_when_to_look_again(store):
    with RateLimiter(store, store_timeout_ms=5000) as limiter:
        assert limiter.check("u", 0, 60) == (False, 0, 60)
        assert limiter.check("u", 0, 0.5) == (False, 0, 1)


def test_a_scope_has_counters_of_its_own(rate_limiter, redis_server):
    assert rate_limiter.check("u", 1, 60, "search") == (True, 0, 0)
    assert rate_limiter.check("u", 1, 60, scope="chat") == (True, 0, 0)
    assert sorted(redis_server.client.keys()) == [b"ratelimit:u:chat:60", b"ratelimit:u:search:60"]


def test_all_limits_are_charged_or_none(limiter):
    limits = ["2 per minute", Limit.parse("1 per day")]
    assert limiter.check("u", limits).allowed
    refused = limiter.check("u", limits)
    assert (refused.allowed, refused.reason, refused.window, refused.limit) == (False, "over_limit", "day", 1)
    assert limiter.peek("u", "2 per minute").remaining == 1


def test_a_peek_writes_nothing(limiter):
    assert [limiter.peek("u", "1 per minute").remaining for _ in range(3)] == [1, 1, 1]
    limiter.check("u", "1 per minute")
    assert limiter.peek("u", "1 per minute").allowed is False


def test_a_charge_goes_past_the_limit(limiter):
    limit = Limit(10, 60, algorithm="token_bucket")
    assert limiter.charge("u", limit, 25).remaining == 0
    refused = limiter.check("u", limit)
    assert not refused and 90 < refused.retry_after <= 96


@pytest.mark.parametrize("algorithm", ["sliding_window", "fixed_window", "token_bucket", "sliding_window_counter"])
def test_p05_a_refund_stays_within_what_was_used(limiter, algorithm):
    limit = Limit(10, 3600, algorithm=algorithm)
    assert limiter.check("u", limit, 3).remaining == 7
    refunded = limiter.refund("u", limit, 5)
    assert (refunded.allowed, refunded.remaining) == (True, 10)
    assert limiter.refund("nobody", limit).remaining == 10
    assert limiter.check("nobody", limit, 10).remaining == 0


def test_a_receipt_gives_back_exactly_its_check_once(limiter):
    limits = Limits("5 per minute")
    decision, receipt = limiter.check_with_receipt("u", limits, 2)
    assert decision.remaining == 3 and receipt
    assert limiter.refund("u", limits, 2, receipt=receipt).remaining == 5
    assert not receipt
    assert limiter.refund("u", limits, 2, receipt=receipt).remaining == 5
    limiter.check("u", limits, 5)
    assert not limiter.check_with_receipt("u", limits)[1]


def test_p23_the_counter_of_one(manual_clock):
    limiter = Limiter(clock=manual_clock)
    limit = "1 per 10 seconds sliding_window_counter"
    assert limiter.check("u", limit)
    manual_clock.advance(5)
    assert not limiter.check("u", limit)
    manual_clock.advance(15)
    assert limiter.check("u", limit)


def test_p25_a_reset_forgets_all_and_nothing_else(limiter):
    limits = "2 per minute; 3 per minute sliding_window_counter"
    for name in ("user*", "user1"):
        limiter.check(name, limits, 2)
    assert limiter.reset("user*", limits) == 2
    assert limiter.check("user*", limits).remaining == 1
    assert not limiter.check("user1", limits)


def test_a_batch_is_in_order(limiter):
    limiter.check("warm", "2 per minute")
    checks = [Check("u", "2 per minute")] * 3 + [Check("v", Limit(1, 60), scope="x")]
    assert [bool(decision) for decision in limiter.check_batch(checks)] == [True, True, False, True]
    assert limiter.check_batch([]) == []


def test_a_decision_tells_its_lines(limiter):
    decision = limiter.check("u", ["5 per minute; 1 per hour shadow", Limit(1, 86400, mode="off")], 2)
    minute, hour = decision.lines
    assert (minute.limit, minute.cost, minute.fits, minute.remaining) == (Limit(5, 60), 2, True, 3)
    assert hour.would_deny and hour.retry_after is None and hour.limit.mode == "shadow"
    assert (decision.limit, decision.window, decision.window_seconds, decision.store_error) == (5, "minute", 60, None)
    assert 0 < decision.reset_after_ms <= 60_000 and decision.reset_after == 60
    assert "allowed" in repr(decision)


def test_limits_are_values():
    limit = Limit.parse("10/second burst 20")
    assert (limit.units, limit.burst, limit.capacity, limit.algorithm) == (10, 20, 20, "token_bucket")
    assert limit == Limit(10, 1, algorithm="token_bucket", burst=20) != Limit(10, 1)
    assert len({limit, Limit.parse(str(limit)), Limit(10, 1)}) == 2
    assert limit != "10/second burst 20"
    assert Limit.parse("5/m", algorithm="fixed_window").algorithm == "fixed_window"
    shortest_first = Limits("100 per day; 5 per minute")
    assert [one.window for one in shortest_first] == ["minute", "day"] and shortest_first[-1].units == 100
    assert Limit(1, 0.7).window == "700ms" and Limit(1, 0.7).window_seconds == 0.7


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("subject", lambda one: one.check("", "5 per minute")),
        ("limit", lambda one: one.check("u", "5 per fortnight")),
        ("limits", lambda one: one.check("u", ["5 per minute", "6 per minute"])),
        ("cost", lambda one: one.check("u", "5 per minute", -1)),
        ("cost", lambda one: one.check("u", "500 per minute", 65)),
        ("cost", lambda one: one.charge("u", "5 per minute", 65)),
        ("cost", lambda one: one.refund("u", "5 per minute", 0)),
        ("receipt", lambda one: one.refund("u", "5/m; 9/d", receipt=one.check_with_receipt("u", "5/m")[1])),
        ("subject", lambda one: one.check_batch([Check("u", "5/m"), Check("", "5/m")])),
        ("units", lambda _: Limit(-1, 60)),
        ("window", lambda _: Limit(1, math.nan)),
        ("window", lambda _: Limit(1, 1e300)),
        ("algorithm", lambda _: Limit(1, 60, algorithm="magic")),
        ("mode", lambda _: Limit(1, 60, mode="loose")),
        ("store", lambda _: Limiter("http://127.0.0.1")),
        ("on_failure", lambda _: Limiter(on_failure="panic")),
        ("store_timeout", lambda _: Limiter(store_timeout_ms=0)),
        ("nodes", lambda _: Limiter(nodes=0)),
        ("user_id", lambda _: RateLimiter("memory://").check("", 5, 60)),
        ("clock", lambda _: Limiter("redis://127.0.0.1:1", clock=brim.testing.ManualClock())),
        ("seconds", lambda _: brim.testing.ManualClock().advance(-1)),
    ],
)
def test_nonsense_names_its_field(limiter, field, call):
    with pytest.raises(brim.InvalidArgument) as raised:
        call(limiter)
    assert raised.value.field == field and len(str(raised.value)) > 10 and isinstance(raised.value, ValueError)


@pytest.mark.parametrize("limits", [None, 5, [["5/m"]], [b"5/m"], {"5/m"}])
def test_what_is_no_limit_is_a_type_error(limiter, limits):
    with pytest.raises(TypeError):
        limiter.check("u", limits)


def test_no_answer_from_the_store_shows_in_the_reason():
    nowhere = f"redis://127.0.0.1:{harness.free_port()}/0"
    for policy, allowed, reason in [
        ("local", True, "degraded_local"), ("open", True, "fail_open"), ("closed", False, "fail_closed")
    ]:
        with Limiter(nowhere, on_failure=policy) as limiter:
            decision = limiter.check("u", "5 per minute")
            assert (decision.allowed, decision.reason, decision.store_error) == (allowed, reason, "unavailable")
            with pytest.raises(brim.StoreError) as raised:
                limiter.reset("u", "5 per minute")
            assert raised.value.code == "unavailable"


def test_a_closed_limiter_says_so(store):
    with Limiter(store) as limiter:
        limiter.check("u", "5 per minute")
    limiter.close()
    assert limiter.closed
    with pytest.raises(brim.Closed):
        limiter.check("u", "5 per minute")


def test_closing_under_way_ends_every_call(redis_server):
    limiter = Limiter(redis_server.url, store_timeout_ms=5000)
    limiter.check("u", "5 per minute")
    ended = []

    def ask():
        try:
            while True:
                limiter.check("u", "1000 per minute fixed_window")
        except brim.Closed:
            ended.append(True)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)  # they ask in the meantime; nothing depends on how often
    limiter.close()
    for thread in threads:
        thread.join(harness.DEADLINE)
    assert ended == [True] * 4


def test_a_waiting_call_lets_other_threads_run(redis_server):
    with Limiter(redis_server.url, store_timeout_ms=1000, on_failure="open") as limiter:
        limiter.check("u", "5 per minute")
        redis_server.client.execute_command("CLIENT", "PAUSE", 300)
        waits = threading.Thread(target=limiter.check, args=("u", "5 per minute"))
        began = time.monotonic()
        waits.start()
        turns = 0
        while waits.is_alive():
            turns += 1
            time.sleep(0)
        assert time.monotonic() - began > 0.2 and turns > 100


def test_the_interpreter_ends_with_a_limiter_open(redis_server):
    program = f"""
import brim, threading
limiter = brim.Limiter({redis_server.url!r}, store_timeout_ms=5000)
assert limiter.check("u", "5 per minute").reason == "within_limit"
def ask():
    while True:
        limiter.check("u", "5 per minute")
threading.Thread(target=ask, daemon=True).start()
"""
    programs.run(program)


def test_a_limiter_without_references_goes(redis_server):
    class Mine(Limiter):
        pass

    mine = Mine(redis_server.url, store_timeout_ms=5000)
    mine.check("u", "5 per minute")
    gone = weakref.ref(mine)
    before = redis_server.client.info("clients")["connected_clients"]
    del mine
    gc.collect()
    assert gone() is None
    harness.eventually(lambda: redis_server.client.info("clients")["connected_clients"] < before, "it disconnects")


def test_many_texts_are_forgotten_again(limiter):
    for units in range(1, 600):
        assert limiter.peek("u", f"{units} per minute").limit == units

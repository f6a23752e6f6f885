"""The program's commands, their exit codes and what they print."""

import json

import pytest

from harness import Monitor, brim

FIVE = ("--limit", "5 per minute")


def check(server, *args, subject="a"):
    return brim("check", subject, "--store", server.url, *args)


def test_check_tells_by_its_exit_code(server):
    assert [check(server, *FIVE).returncode for _ in range(6)] == [0] * 5 + [1]
    assert server.client.zcard("ratelimit:a:60") == 5


def test_check_needs_no_store():
    assert brim("check", "a", *FIVE).returncode == 0
    assert brim("check", "a", "--limit", "0 per minute").returncode == 1


def test_the_store_may_come_from_the_environment(redis_server):
    assert brim("check", "a", *FIVE, env={"BRIM_STORE": redis_server.url}).returncode == 0
    assert redis_server.client.zcard("ratelimit:a:60") == 1


@pytest.mark.parametrize("args", [
    (), ("a",), ("a", "--limit"), ("a", "--limit", "5"), ("a", "--limit", "-1 per minute"),
    ("a", "--limit", "9223372036854775808 per minute"), ("a", "--limit", "5 per 0 minutes"),
    ("a", "--limit", "5 per 10 years"), ("a", "--limit", "5 per 520 weeks"), ("a", "--limit", "five per minute"),
    ("a", "--limit", ""), ("a", *FIVE, "--limit", "6 per minute"), ("a", *FIVE, "--cost", "-1"),
    ("a", *FIVE, "--cost", "x"), ("a", "--limit", "100 per minute", "--cost", "65"), ("a", *FIVE, "--no-such-option"),
    ("a", *FIVE, "--store", "nonsense://x"), ("a", *FIVE, "--store", "redis://127.0.0.1:99999"), ("", *FIVE)])
def test_bad_usage_is_exit_code_2_and_a_sentence(args):
    done = brim("check", *args)
    assert done.returncode == 2, done
    assert done.stderr.strip() and done.stdout == ""


def test_a_store_that_is_not_there_is_exit_code_3():
    done = brim("check", "a", *FIVE, "--store", "redis://127.0.0.1:1/0")
    assert done.returncode == 3, done
    assert done.stderr.strip()


def test_a_wrong_password_is_exit_code_3(redis_server):
    done = brim("check", "a", *FIVE, "--store", f"redis://nobody:wrong@127.0.0.1:{redis_server.port}/0")
    assert done.returncode == 3, done
    assert "wrong@" not in done.stderr + done.stdout, "a password is never shown"


def test_json_is_the_body_of_the_decision_api(server):
    bodies = [json.loads(check(server, "--limit", "2 per minute", "--limit", "100/day", "--json").stdout)
              for _ in range(3)]
    first, last = bodies[0], bodies[2]
    assert first["allowed"] is True and first["reason"] == "within_limit"
    assert (first["limit"], first["remaining"], first["window"], first["window_seconds"]) == (2, 1, "minute", 60)
    assert first["retry_after"] == first["retry_after_ms"] == 0 and "detail" not in first
    assert [(x["limit"], x["window"], x["remaining"]) for x in first["limits"]] == [(2, "minute", 1), (100, "day", 99)]
    assert last["allowed"] is False and last["reason"] == "over_limit"
    assert last["detail"] == "Rate limit exceeded"
    assert last["remaining"] == 0 and 1 <= last["retry_after"] <= 60
    assert 1 <= last["retry_after_ms"] <= 60_000 and 1 <= last["reset_after_ms"] <= 60_000
    assert [x["window"] for x in last["limits"]] == ["minute"], "the day was not looked at"
    assert last["limits"][0]["algorithm"] == "sliding_window"
    assert server.client.zcard("ratelimit:a:86400") == 2


def test_a6_behind_a_full_minute_no_command_touches_the_day(server):
    both = ("--limit", "100 per day", "--limit", "1 per minute")
    assert check(server, *both).returncode == 0
    with Monitor(server) as seen:
        assert check(server, *both).returncode == 1
    assert any("ratelimit:a:60" in c for c in seen.lua)
    assert not any("86400" in c for c in seen.lua)


def test_window_seconds_may_be_a_fraction():
    body = json.loads(brim("check", "a", "--limit", "5 per 700 ms", "--json").stdout)
    assert (body["window"], body["window_seconds"]) == ("700ms", 0.7)


def test_what_can_never_fit_says_so(server):
    done = check(server, *FIVE, "--cost", "6", "--json")
    body = json.loads(done.stdout)
    assert done.returncode == 1
    assert body["reason"] == "cost_exceeds_limit"
    assert body["retry_after"] is None and body["retry_after_ms"] is None
    assert server.client.dbsize() == 0


def test_cost_0_peeks_and_writes_nothing(server):
    assert check(server, *FIVE, "--cost", "0").returncode == 0
    assert server.client.dbsize() == 0
    assert check(server, *FIVE, "--cost", "5").returncode == 0
    assert check(server, *FIVE, "--cost", "0").returncode == 1
    assert server.client.zcard("ratelimit:a:60") == 5


def test_inspect_shows_and_charges_nothing(server):
    check(server, *FIVE, "--cost", "2")
    done = brim("inspect", "a", *FIVE, "--store", server.url)
    assert done.returncode == 0 and "3" in done.stdout, done
    assert server.client.zcard("ratelimit:a:60") == 2


def test_reset_forgets_this_subject_alone(server):
    for subject in ("a", "b"):
        check(server, *FIVE, "--limit", "9/day", subject=subject)
    done = brim("reset", "a", *FIVE, "--store", server.url)
    assert done.returncode == 0, done
    assert sorted(server.client.keys()) == [b"ratelimit:a:86400", b"ratelimit:b:60", b"ratelimit:b:86400"]


def test_the_fixed_window_has_its_own_key(server):
    assert check(server, "--limit", "5 per minute fixed_window").returncode == 0
    assert server.client.keys() == [b"ratelimit:a:60:fixed"]


def test_a8_the_kill_switch_holds_for_check_and_not_for_reset(server):
    off = {"RATE_LIMIT_DISABLED": "true"}
    check(server, *FIVE)
    done = brim("check", "a", "--limit", "0 per minute", "--store", server.url, "--json", env=off)
    assert done.returncode == 0 and json.loads(done.stdout)["reason"] == "kill_switch"
    assert brim("reset", "a", *FIVE, "--store", server.url, env=off).returncode == 0
    assert server.client.dbsize() == 0


def test_a_password_in_an_argument_is_warned_of(redis_server):
    url = f"redis://default:secret@127.0.0.1:{redis_server.port}/0"
    assert "BRIM_STORE" in brim("check", "a", *FIVE, "--store", url).stderr
    assert "BRIM_STORE" not in brim("check", "a", *FIVE, env={"BRIM_STORE": url}).stderr


def test_help_and_version():
    for args in ((), ("--help",)):
        done = brim(*args)
        assert done.returncode == 0
        for command in ("demo", "check", "inspect", "reset"):
            assert command in done.stdout, (args, done)
    assert "brim check" in brim("--help").stdout, "help has examples"
    assert "--limit" in brim("check", "--help").stdout
    version = brim("--version")
    assert version.returncode == 0 and "0.1.0" in version.stdout


def test_an_unknown_command_is_bad_usage():
    assert brim("chekc").returncode == 2

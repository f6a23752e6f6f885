"""`brim doctor` on real servers: what it finds, what it says to do, its exit codes."""

import json

from harness import brim


def doctor(*args):
    done = brim("doctor", *args)
    return done.returncode, done.stdout, done.stderr


def report(url):
    code, out, err = doctor("--store", url, "--json")
    assert err == ""
    return code, json.loads(out)


def names(found):
    return {finding["name"] for finding in found["findings"]}


def put_right(server):
    for setting, value in {"maxmemory": "100mb", "maxmemory-policy": "noeviction", "lazyfree-lazy-expire": "yes",
                           "save": "3600 1"}.items():
        server.client.config_set(setting, value)


def test_a_plain_server_has_findings_each_with_a_remedy(server):
    code, found = report(server.url)
    assert code == 1 and found["ok"] is False and found["topology"] == "single"
    assert names(found) >= {"maxmemory", "persistence"}
    assert all(finding["text"] and finding["remedy"] for finding in found["findings"])
    (node,) = found["nodes"]
    assert node["role"] == "master" and node["round_trip_us"] > 0 and abs(node["clock_offset_us"]) < 1_000_000
    assert found["check_us"] > 0 and found["over_admission"]
    assert server.client.dbsize() == 0, "it writes nothing"


def test_the_remedies_mend_it(server):
    put_right(server)
    code, found = report(server.url)
    assert (code, found["findings"]) == (0, [])
    code, out, _ = doctor("--store", server.url)
    assert code == 0 and "Nothing to mend" in out and "a limit is never passed" in out


def test_a_missing_right_is_named(server):
    put_right(server)
    server.client.execute_command("ACL", "SETUSER", "brim", "on", ">secret", "~ratelimit:*", "+@all", "-zadd")
    url = server.url.replace("redis://", "redis://brim:secret@")
    code, found = report_with_warning(url)
    assert code == 1 and names(found) == {"check"}
    assert "+zadd" in found["findings"][0]["text"]


def report_with_warning(url):
    code, out, err = doctor("--store", url, "--json")
    assert "BRIM_STORE" in err and "secret" not in out + err
    return code, json.loads(out)


def test_a_user_who_may_not_look_is_told_what_that_takes(server):
    server.client.execute_command("ACL", "SETUSER", "brim", "on", ">secret", "~ratelimit:*", "+@all", "-info", "-config")
    code, found = report_with_warning(server.url.replace("redis://", "redis://brim:secret@"))
    assert code == 1 and names(found) == {"rights"}


def test_exit_codes_of_what_cannot_be_asked(server):
    assert doctor("--store", "redis://127.0.0.1:1")[0] == 3
    code, _, err = doctor("--store", server.url.replace("redis://", "redis://nobody:wrong@"))
    assert code == 3 and "WRONGPASS" in err
    code, _, err = doctor("--store", "redis://")
    assert code == 2 and "store" in err
    code, out, _ = doctor()
    assert code == 0 and "memory://" in out

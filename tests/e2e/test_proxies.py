"""Who a client is behind proxies, through real connections: the peer is 127.0.0.1, and what it appends is in the header."""

import pytest

LIMITED = "tiers: {free: [1 per hour]}\n"
TRUSTING = LIMITED + "trusted_proxies: [127.0.0.0/8, 10.0.0.0/8]\n"


def status(http, server, *lines, name="X-Forwarded-For"):
    return http.get(f"{server.url}/v1/auth", headers=[(name, line) for line in lines]).status_code


def used(http, server, *lines, **rest):
    """Whether somebody with this header was seen before: each client has one request an hour."""
    return {200: False, 429: True}[status(http, server, *lines, **rest)]


@pytest.mark.parametrize("behind", ["", ", 10.0.0.2", ", 10.0.0.3:4711, [::ffff:10.0.0.2]:80"], ids=["one", "two", "three"])
def test_r19_behind_proxies_the_client_is_who_the_last_untrusted_hop_is(serve, http, behind):
    server = serve(TRUSTING)
    assert not used(http, server, f"203.0.113.9{behind}")
    assert used(http, server, f"198.51.100.1, 203.0.113.9{behind}")  # what it writes itself changes nothing
    assert used(http, server, f"10.0.0.9, 203.0.113.9:4711{behind}")
    assert used(http, server, "198.51.100.1", f"unknown, 203.0.113.9{behind}")
    assert used(http, server, f"'\";--, 203.0.113.9{behind}")
    assert not used(http, server, f"203.0.113.10{behind}")  # and locks nobody out
    assert not used(http, server, f"198.51.100.1{behind}")


def test_r19_garbage_counts_for_the_proxy_that_passed_it_on(serve, http):
    server = serve(TRUSTING)
    assert not used(http, server, "unknown")
    assert used(http, server, "203.0.113.9, garbage")
    assert used(http, server)


def test_r19_an_untrusted_peer_is_itself_and_the_log_says_so_once(serve, http):
    server = serve(LIMITED)
    assert not used(http, server, "203.0.113.9")
    assert all(used(http, server, f"203.0.113.{i}") for i in range(10, 20))
    assert server.log().count("BRIM-W002") == 1


def test_r19_forwarded_is_read_only_where_it_is_configured(serve, http):
    plain = serve(TRUSTING)
    assert not used(http, plain, "for=203.0.113.9", name="Forwarded")
    assert used(http, plain, "for=203.0.113.10", name="Forwarded")
    server = serve(TRUSTING + "identity: {proxy_header: Forwarded}\n")
    assert not used(http, server, 'for=198.51.100.1, For="[2001:db8::1]:4711";proto=https, for=10.0.0.2', name="Forwarded")
    assert used(http, server, 'for=198.51.100.2', 'for="[2001:db8::2]"', name="Forwarded")  # of the same /64
    assert not used(http, server, 'for=198.51.100.2;x=", for=203.0.113.9', name="Forwarded")  # nothing: the proxy itself
    assert used(http, server, name="Forwarded")


def test_p29_a_client_with_many_ipv6_addresses_is_one(serve, http):
    server = serve(TRUSTING)
    assert not used(http, server, "2001:db8:1:2::1")
    assert used(http, server, "2001:DB8:1:2:ffff::0001")
    assert not used(http, server, "2001:db8:1:3::1")
    assert not used(http, server, "192.0.2.1")
    assert used(http, server, "::ffff:192.0.2.1")
    wide = serve(TRUSTING + "identity: {ipv6_prefix: 48}\n")
    assert not used(http, wide, "2001:db8:1:2::1")
    assert used(http, wide, "2001:db8:1:3::1")


def test_a_tier_header_is_the_trusted_proxys_alone(serve, http):
    text = "tiers: {free: [1 per hour], pro: [3 per hour]}\nidentity: {subject: [{header: X-User, from: trusted_proxies}, peer_address]," \
           " tier: [{header: X-Tier, from: trusted_proxies}]}\ntrusted_proxies: [%s]\n"

    def statuses(server):
        return [http.get(f"{server.url}/v1/auth", headers={"X-User": "me", "X-Tier": "pro"}).status_code for _ in range(4)]

    assert statuses(serve(text % "127.0.0.0/8")) == [200, 200, 200, 429]
    assert statuses(serve(text % "10.0.0.0/8")) == [200, 429, 429, 429]

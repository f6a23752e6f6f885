"""brim.aio: on asyncio and uvloop, in memory and on a real Redis."""

import asyncio
import gc
import os
import signal
import subprocess
import threading
import weakref

import harness
import programs
import pytest
import uvloop

import brim
import brim.aio
from brim import Check, Limits


class WithoutReaders(asyncio.SelectorEventLoop):
    """A loop that cannot watch descriptors, as on some platforms; its own wake-ups use what lies below."""

    def add_reader(self, fd, callback, *args):
        raise NotImplementedError


LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop, "without_readers": WithoutReaders}


@pytest.fixture(params=LOOPS)
def run(request):
    """Runs a coroutine on each kind of loop; nothing may be reported to the loop behind its back."""
    reports = []

    def one(coroutine):
        with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
            runner.get_loop().set_exception_handler(lambda _, context: reports.append(context))
            result = runner.run(coroutine)
        gc.collect()
        assert not reports
        return result

    return one


def limiter_on(store, **options):
    return brim.aio.Limiter(store, **{"store_timeout_ms": 5000} | options)


async def all_answers(coroutines):
    return await asyncio.gather(*coroutines)


def test_the_same_names_as_the_blocking_api(run, store):
    async def program():
        async with limiter_on(store) as limiter:
            limits = "3 per minute; 100 per day"
            assert (await limiter.check("u", limits, 2)).remaining == 1
            assert (await limiter.peek("u", limits)).remaining == 1
            refused = await limiter.check("u", limits, cost=2)
            assert (refused.allowed, refused.reason) == (False, "over_limit")
            assert (await limiter.charge("u", limits, 2)).remaining == 0
            assert (await limiter.refund("u", limits, 4)).remaining == 3
            decision, receipt = await limiter.check_with_receipt("u", limits, 3)
            assert decision.remaining == 0 and receipt
            assert (await limiter.refund("u", limits, 3, receipt=receipt)).remaining == 3 and not receipt
            await limiter.check("warm", "2 per minute")
            batch = await limiter.check_batch([Check("b", "2 per minute")] * 3)
            assert [bool(decision) for decision in batch] == [True, True, False]
            with pytest.raises(brim.InvalidArgument):
                await limiter.check("", limits)
            with pytest.raises(brim.InvalidArgument):
                await limiter.charge("u", limits, 0)
        with pytest.raises(brim.Closed):
            await limiter.check("u", limits)

    run(program())


def test_a_reset_forgets(run, store):
    async def program():
        async with limiter_on(store) as limiter:
            assert await limiter.check("u", "1 per minute")
            assert await limiter.reset("u", "1 per minute") == 1
            assert await limiter.check("u", "1 per minute")

    run(program())


def test_a2_twenty_at_once_are_ten(run, redis_server):
    async def program():
        limiter = brim.aio.RateLimiter(redis_server.url, store_timeout_ms=5000)
        answers = await all_answers(limiter.check("user_8421", 10, 60) for _ in range(20))
        assert sorted(allowed for allowed, _, _ in answers) == [False] * 10 + [True] * 10
        assert {retry_after for allowed, _, retry_after in answers if not allowed} <= {59, 60}
        assert await limiter.check("user_8421", 0, 0.5) == (False, 0, 1)
        limiter.close()

    run(program())


def test_a8_the_kill_switch_is_seen_by_the_next_check(run, redis_server, monkeypatch):
    async def program():
        async with limiter_on(redis_server.url) as limiter:
            await limiter.check("warm", "5 per minute")
            monkeypatch.setenv("RATE_LIMIT_DISABLED", "true")
            with harness.Monitor(redis_server) as monitor:
                decisions = await all_answers(limiter.check("u", "5 per minute") for _ in range(10))
            assert {(d.allowed, d.remaining, d.reason) for d in decisions} == {(True, 5, "kill_switch")}
            assert monitor.commands == []
            monkeypatch.delenv("RATE_LIMIT_DISABLED")
            assert not limiter.disabled
            limiter.disabled = True
            assert limiter.sync.disabled and (await limiter.check("u", "0 per minute")).allowed

    run(program())


def test_memory_answers_without_leaving_the_thread():
    limiter = brim.aio.Limiter()
    with pytest.raises(StopIteration) as ended:
        limiter.check("u", "5 per minute").send(None)  # no loop is there to wait in
    assert ended.value.value.remaining == 4


def test_a_thousand_tasks_are_answered_exactly(run, redis_server):
    async def program():
        async with limiter_on(redis_server.url) as limiter:
            limits = Limits("700 per minute")
            decisions = await all_answers(limiter.check("u", limits) for _ in range(1000))
            assert sum(decision.allowed for decision in decisions) == 700
            assert sorted(decision.remaining for decision in decisions if decision) == list(range(700))

    run(program())


def test_cancelled_tasks_disturb_no_other(run, redis_server):
    async def program():
        async with limiter_on(redis_server.url) as limiter:
            for round_ in range(20):
                limit = f"{round_ + 1000} per minute fixed_window"
                tasks = [asyncio.ensure_future(limiter.check(f"u{i}", limit)) for i in range(100)]
                await asyncio.sleep(0)  # all have asked
                for task in tasks[::2]:
                    task.cancel()
                answers = await asyncio.gather(*tasks, return_exceptions=True)
                assert all(isinstance(answer, asyncio.CancelledError) for answer in answers[::2])
                assert all(answer.reason == "within_limit" for answer in answers[1::2])
            with pytest.raises(TimeoutError):
                redis_server.client.execute_command("CLIENT", "PAUSE", 200)
                await asyncio.wait_for(limiter.check("late", "5 per minute"), 0.05)
            assert (await limiter.check("after", "5 per minute")).reason == "within_limit"

    run(program())


def test_closing_under_way_answers_every_call(run, redis_server):
    async def program():
        limiter = limiter_on(redis_server.url, on_failure="open")
        await limiter.check("warm", "5 per minute")
        redis_server.client.execute_command("CLIENT", "PAUSE", 200)
        tasks = [asyncio.ensure_future(limiter.check("u", "5 per minute")) for _ in range(10)]
        await asyncio.sleep(0)
        limiter.close()
        assert {decision.reason for decision in await all_answers(tasks)} == {"fail_open"}

    run(program())


def test_a_limiter_with_calls_under_way_may_go(run, redis_server):
    class Mine(brim.Limiter):
        pass

    async def program():
        mine = Mine(redis_server.url, store_timeout_ms=5000)
        gone = weakref.ref(mine)
        limiter = brim.aio.Limiter(mine)
        await limiter.check("warm", "5 per minute")
        redis_server.client.execute_command("CLIENT", "PAUSE", 200)
        tasks = [asyncio.ensure_future(limiter.check("u", "5 per minute")) for _ in range(10)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        del mine, limiter, tasks, task
        await asyncio.sleep(0)
        gc.collect()
        assert gone() is None, gc.get_referrers(gone())
        await asyncio.sleep(0.01)  # the late answers find nobody

    run(program())


def test_a_loop_may_end_with_calls_under_way(redis_server):
    limiter = limiter_on(redis_server.url, on_failure="open")

    async def ask_and_leave():
        await limiter.check("warm", "5 per minute")
        redis_server.client.execute_command("CLIENT", "PAUSE", 100)
        for _ in range(10):
            asyncio.ensure_future(limiter.check("u", "500 per minute"))
        await asyncio.sleep(0)

    async def ask():
        return await limiter.check("u", "500 per minute")

    for _ in range(3):
        asyncio.run(ask_and_leave())
        assert asyncio.run(ask()).reason == "within_limit"
    limiter.close()


def test_loops_of_several_threads_share_a_limiter(redis_server):
    with brim.Limiter(redis_server.url, store_timeout_ms=5000) as shared:
        limiter = brim.aio.Limiter(shared)
        admitted = []

        async def ask():
            decisions = await all_answers(limiter.check("u", "300 per minute") for _ in range(100))
            admitted.append(sum(decision.allowed for decision in decisions))

        threads = [threading.Thread(target=asyncio.run, args=(ask(),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(harness.DEADLINE)
        assert sum(admitted) == 300 and len(admitted) == 4
    with pytest.raises(TypeError):
        brim.aio.Limiter(shared, nodes=2)


def test_redis_may_stop_and_start_under_load(tmp_path):
    server = harness.RedisServer(harness.program("redis-server", "redis-server"), tmp_path)
    port, reasons, running = server.port, [], True

    async def load(limiter, name):
        while running:
            reasons.append((await limiter.check(name, "1000000 per minute fixed_window")).reason)
            await asyncio.sleep(0.001)

    async def seen(reason):
        del reasons[:]
        async with asyncio.timeout(harness.DEADLINE):
            while reason not in reasons[-50:]:
                await asyncio.sleep(0.005)

    async def program():
        nonlocal running
        async with brim.aio.Limiter(server.url) as limiter:
            tasks = [asyncio.ensure_future(load(limiter, f"u{i}")) for i in range(50)]
            await seen("within_limit")
            server.stop()
            await seen("degraded_local")
            again = subprocess.Popen(
                [harness.program("redis-server", "redis-server"), "--port", str(port), "--bind", "127.0.0.1",
                 "--save", "", "--dir", str(tmp_path)], stdout=subprocess.DEVNULL)
            try:
                await seen("within_limit")
                running = False
                await asyncio.gather(*tasks)
            finally:
                again.terminate()
                again.wait(harness.DEADLINE)

    asyncio.run(program())


FORK = """
import asyncio, os, brim, brim.aio
limiter = brim.Limiter({url!r}, store_timeout_ms=5000)
later = brim.aio.Limiter(limiter)
async def ask(name):
    return [d.reason for d in await asyncio.gather(*(later.check(name, "50 per minute") for _ in range(2)))]
assert asyncio.run(ask("parent")) == ["within_limit"] * 2
for child in range(3):
    pid = os.fork()
    if pid == 0:
        assert limiter.check("u", "50 per minute").reason == "within_limit"
        assert asyncio.run(ask("child")) == ["within_limit"] * 2
        if child == 2:
            limiter.close()
        raise SystemExit(0)
    assert os.waitpid(pid, 0)[1] == 0
assert limiter.check("u", "50 per minute").remaining == 46
assert limiter.peek("child", "50 per minute").remaining == 44
assert asyncio.run(ask("parent")) == ["within_limit"] * 2
"""


def test_a_forked_child_connects_anew(redis_server):
    programs.run(FORK.format(url=redis_server.url))


def test_a_child_that_never_asks_ends_well(redis_server):
    programs.run(FORK.format(url=redis_server.url).split("for child")[0] + """
pid = os.fork()
if pid != 0:
    assert os.waitpid(pid, 0)[1] == 0
""")


def test_the_interpreter_ends_with_calls_under_way(redis_server):
    programs.run(f"""
import asyncio, brim.aio
limiter = brim.aio.Limiter({redis_server.url!r}, store_timeout_ms=60000)
async def leave():
    await limiter.check("warm", "5 per minute")
    import redis
    redis.Redis(port={redis_server.port}).execute_command("CLIENT", "PAUSE", 300)
    for _ in range(10):
        asyncio.ensure_future(limiter.check("u", "5 per minute"))
    await asyncio.sleep(0.01)
asyncio.run(leave())
""")


def test_an_interrupt_ends_the_program(redis_server):
    program = f"""
import asyncio, brim.aio
limiter = brim.aio.Limiter({redis_server.url!r}, store_timeout_ms=60000)
async def forever():
    while True:
        await limiter.check("u", "5 per minute")
        print("asked", flush=True)
try:
    asyncio.run(forever())
except KeyboardInterrupt:
    print("interrupted")
"""
    process = programs.start(program)
    assert process.stdout.readline() == "asked\n"
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=harness.DEADLINE)[0]
    assert (process.returncode, said.splitlines()[-1]) == (0, "interrupted")

// A million keys in governor's keyed limiter (dashmap), picked at random: the peer of
// bench/micro/memory_bench.cc, with the same keys, sequence and meaning.
//
// governor-bench SECONDS  ->  {"cpu_ns": CPU per check, "ns": time per check}
use governor::{Quota, RateLimiter};
use std::num::NonZeroU32;
use std::time::Instant;

const KEYS: usize = 1_000_000;
const CHECKS_BETWEEN_LOOKS: u64 = 65_536;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

fn cpu_ns() -> i64 {
    const PROCESS_CPU_TIME: i32 = 2;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    assert_eq!(unsafe { clock_gettime(PROCESS_CPU_TIME, &mut time) }, 0);
    time.seconds * 1_000_000_000 + time.nanoseconds
}

struct Random(u64);

impl Random {
    fn key(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % KEYS as u64) as usize
    }
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let subjects: Vec<String> = (0..KEYS).map(|i| format!("user_{i}")).collect();
    let limiter = RateLimiter::dashmap(Quota::per_second(NonZeroU32::new(1_000_000).unwrap()));
    for subject in &subjects {
        assert!(limiter.check_key(subject).is_ok());
    }

    let mut random = Random(0x9e3779b97f4a7c15 + 1);
    let mut allowed = 0u64;
    let mut checks = 0u64;
    let (start, start_cpu) = (Instant::now(), cpu_ns());
    while start.elapsed().as_secs_f64() < seconds {
        for _ in 0..CHECKS_BETWEEN_LOOKS {
            allowed += limiter.check_key(&subjects[random.key()]).is_ok() as u64;
        }
        checks += CHECKS_BETWEEN_LOOKS;
    }
    let cpu = (cpu_ns() - start_cpu) as f64 / checks as f64;
    let wall = start.elapsed().as_nanos() as f64 / checks as f64;
    assert!(allowed > 0);
    println!("{{\"cpu_ns\": {cpu:.1}, \"ns\": {wall:.1}}}");
}

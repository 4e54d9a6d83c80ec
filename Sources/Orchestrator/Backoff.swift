/// How long to wait after failures in a row: full jitter up to 100 ms, 200 ms, 400 ms … 5 s.
struct Backoff {
  private(set) var failures = 0

  mutating func failed(jitter: Double) -> Duration {
    failures += 1
    let ceiling = min(5, 0.1 * Double(1 << min(failures - 1, 10)))
    return .seconds(ceiling * max(0.1, min(jitter, 1)))
  }

  mutating func succeeded() {
    failures = 0
  }
}

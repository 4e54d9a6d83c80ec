import Glibc

/// The wall clock, read once per request and passed on.
package struct WallTime: Equatable, Sendable {
  package let seconds: Int
  package let microseconds: Int

  package init(seconds: Int, microseconds: Int) {
    self.seconds = seconds
    self.microseconds = microseconds
  }

  package static func now() -> WallTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(seconds: time.tv_sec, microseconds: time.tv_nsec / 1000)
  }

  /// The HTTP form of the date: `Sat, 21 Nov 2026 08:05:00 GMT`.
  package var httpDate: String {
    var seconds = seconds
    var parts = unsafe tm()
    unsafe gmtime_r(&seconds, &parts)
    let (weekday, day, month) = unsafe (Int(parts.tm_wday), parts.tm_mday, Int(parts.tm_mon))
    let (year, hour) = unsafe (parts.tm_year + 1900, parts.tm_hour)
    let (minute, second) = unsafe (parts.tm_min, parts.tm_sec)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(days[weekday]), \(two(day)) \(months[month]) \(year) "
      + "\(two(hour)):\(two(minute)):\(two(second)) GMT"
  }

  /// Epoch seconds with six decimals, without the rounding of a binary fraction.
  package var decimalSeconds: String {
    let fraction = String(microseconds)
    return "\(seconds)." + String(repeating: "0", count: 6 - fraction.count) + fraction
  }
}

extension WallTime {
  package var fractionalSeconds: Double { Double(seconds) + Double(microseconds) / 1e6 }

  /// Blocks this thread until a time; returns at once if it has passed.
  package static func wait(untilSeconds due: Double) {
    let seconds = min(due - now().fractionalSeconds, 1e9)
    guard seconds > 0 else { return }
    var rest = timespec(
      tv_sec: Int(seconds), tv_nsec: Int(seconds.truncatingRemainder(dividingBy: 1) * 1e9))
    var asked = rest
    while unsafe nanosleep(&asked, &rest) != 0, errno == EINTR { asked = rest }
  }

  /// Microseconds since 1970.
  package var total: Int { seconds * 1_000_000 + microseconds }
}

/// The clock for waiting, which is never set.
package enum MonotonicClock {
  package static func milliseconds() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }
}

/// Events ordered by their time, in a binary heap; events of equal time leave in order of arrival.
struct Timers<Event> {
  private struct Entry {
    let deadline: Int
    let order: Int
    let event: Event

    func isBefore(_ other: Entry) -> Bool {
      (deadline, order) < (other.deadline, other.order)
    }
  }

  private var heap: [Entry] = []
  private var added = 0

  var nextDeadline: Int? { heap.first?.deadline }

  mutating func add(_ event: Event, at deadline: Int) {
    heap.append(Entry(deadline: deadline, order: added, event: event))
    added += 1
    var child = heap.count - 1
    while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func takeDue(at now: Int) -> Event? {
    guard let first = heap.first, first.deadline <= now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    siftDown()
    return first.event
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].isBefore(heap[least]) {
        least = child
      }
      if least == parent { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}

import Base

/// The times of generated samples and fixtures: equal rules give equal text, and equal pictures.
enum SampleTime {
  /// Monday, 23 November 2026, 08:00 UTC.
  static let start = Timestamp(epochSeconds: 1_795_420_800)
  /// A time to come in samples: ten minutes later, in seconds since 1970.
  static let literal = "1_795_421_400"
}

import RideCore

extension PostgresError {
  /// The error as the engine classifies it.
  var failure: StoreFailure { StoreFailure(cause, description) }

  private var cause: StoreFailure.Cause {
    switch kind {
    case .timeout(let sent): sent ? .timeout : .unavailable
    case .unreachable, .connectionLost, .closed, .protocol, .invalidConninfo: .unavailable
    case .invalidParameter: .values
    case .server(let error): error.cause
    }
  }
}

extension ServerError {
  /// What the SQLSTATE means for another attempt.
  var cause: StoreFailure.Cause {
    switch (sqlState.prefix(2), sqlState) {
    case (_, "57014"): .timeout
    case (_, "55P03"), ("40", _): .conflict
    // A disk that is full or fails, and a server that stops, affect every ride alike.
    case ("08", _), ("53", _), ("57", _), ("58", _), (_, "25006"): .unavailable
    case ("21", _), ("22", _), ("23", _): .values
    default: .refused
    }
  }
}

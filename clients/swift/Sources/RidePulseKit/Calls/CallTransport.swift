public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends one request of the kit. The default uses URLSession; another one may add what your backend needs.
public protocol CallTransport: Sendable {
  /// Returns the answer; throws if none came.
  func send(_ request: CallRequest) async throws -> CallAnswer
}

/// A request to your backend.
public struct CallRequest: Sendable {
  /// `POST` or `DELETE`.
  public let method: String
  /// The whole address.
  public let url: URL
  /// Headers, with those of your `authorization`.
  public let headers: [String: String]
  /// JSON, or nil.
  public let body: Data?
}

/// What a backend answered.
public struct CallAnswer: Sendable {
  /// The HTTP status.
  public let status: Int
  /// The header `Retry-After` in seconds.
  public let retryAfter: Double?

  /// Creates an answer.
  public init(status: Int, retryAfter: Double? = nil) {
    (self.status, self.retryAfter) = (status, retryAfter)
  }
}

/// Sends requests with URLSession.
public struct URLSessionTransport: CallTransport {
  private let session: URLSession

  /// Creates a transport; a call waits `timeout` seconds for its answer.
  public init(timeout: Double = 15) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = timeout
    configuration.timeoutIntervalForResource = timeout
    session = URLSession(configuration: configuration)
  }

  /// Sends a request.
  public func send(_ request: CallRequest) async throws -> CallAnswer {
    var call = URLRequest(url: request.url)
    (call.httpMethod, call.httpBody) = (request.method, request.body)
    for (name, value) in request.headers { call.setValue(value, forHTTPHeaderField: name) }
    let (_, response) = try await session.data(for: call)
    guard let answer = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    return CallAnswer(
      status: answer.statusCode,
      retryAfter: answer.value(forHTTPHeaderField: "Retry-After").flatMap(Double.init))
  }
}

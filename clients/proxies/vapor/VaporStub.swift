// The part of Vapor 4 that RidePulseProxy uses, to type-check it without a network: names and types as we
// read them in Vapor, NIO and RoutingKit. It does nothing.
public import Foundation

public struct HTTPMethod: Sendable {
  public static let POST = HTTPMethod(), PUT = HTTPMethod(), DELETE = HTTPMethod()
}

public struct HTTPHeaders: Sendable {
  public init(_ headers: [(String, String)] = []) {}
  public subscript(name: String) -> [String] { [] }
}

public struct HTTPResponseStatus: Equatable, Sendable {
  public static let unauthorized = HTTPResponseStatus(), forbidden = HTTPResponseStatus()
  public static let serviceUnavailable = HTTPResponseStatus()
}

public struct ByteBuffer: Sendable {
  public init(data: Data) {}
}

public struct TimeAmount: Sendable {
  public static func seconds(_ amount: Int64) -> TimeAmount { TimeAmount() }
}

public struct ByteCount: ExpressibleByStringLiteral, Sendable {
  public init(stringLiteral value: String) {}
}

public enum HTTPBodyStreamStrategy: Sendable {
  case stream
  public static var collect: HTTPBodyStreamStrategy { .collect(maxSize: nil) }
  case collect(maxSize: ByteCount?)
}

public struct PathComponent: ExpressibleByStringInterpolation, Sendable {
  public init(stringLiteral value: String) {}
}

public struct URI: Sendable {
  public init(string: String) {}
  public var path: String { "" }
  public var query: String? { nil }
}

public struct Abort: Error {
  public init(_ status: HTTPResponseStatus) {}
}

public protocol ContentContainer {
  func decode<D: Decodable>(_ type: D.Type) throws -> D
}

public struct ClientRequest: Sendable {
  public var body: ByteBuffer?
  public var timeout: TimeAmount?
}

public struct ClientResponse: Sendable {
  public var status: HTTPResponseStatus
  public var headers: HTTPHeaders
  public var body: ByteBuffer?
}

public protocol Client: Sendable {}

extension Client {
  public func send(
    _ method: HTTPMethod, headers: HTTPHeaders = HTTPHeaders(), to url: URI,
    beforeSend: (inout ClientRequest) throws -> Void = { _ in }
  ) async throws -> ClientResponse {
    ClientResponse(status: .forbidden, headers: headers, body: nil)
  }
}

private struct NoClient: Client {}

public final class Request: @unchecked Sendable {
  public var method: HTTPMethod { .POST }
  public var url: URI { URI(string: "") }
  public var headers: HTTPHeaders { HTTPHeaders() }
  public var client: any Client { NoClient() }
  public var content: any ContentContainer { preconditionFailure("a stub") }
}

public protocol AsyncResponseEncodable {}

public final class Response: AsyncResponseEncodable, @unchecked Sendable {
  public struct Body: Sendable {
    public static let empty = Body()
    private init() {}
    public init(buffer: ByteBuffer) {}
  }
  public init(status: HTTPResponseStatus, headers: HTTPHeaders, body: Body) {}
}

public final class Route: Sendable {}

public protocol RoutesBuilder {}

extension RoutesBuilder {
  @discardableResult
  public func on<R: AsyncResponseEncodable>(
    _ method: HTTPMethod, _ path: PathComponent..., body: HTTPBodyStreamStrategy = .collect,
    use closure: @Sendable @escaping (Request) async throws -> R
  ) -> Route { Route() }
}

public protocol RouteCollection {
  func boot(routes: any RoutesBuilder) throws
}

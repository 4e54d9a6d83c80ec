import Foundation
import RideCore
import Testing

@testable import PushClient

/// Cases in which no connection can be opened.
@Suite struct ConnectivityTests {
  private func reason(_ outcome: PushOutcome) -> String? {
    guard case .unsent(.noConnection(let text)) = outcome else { return nil }
    return text
  }

  @Test("A certificate of an unknown authority is refused, in clear words")
  func wrongAuthority() async throws {
    let server = try await FaultServer(#"{"connections": [{}]}"#)
    let client = try TestClient(
      server.url, ca: "other-ca.pem", requestTimeout: .seconds(10))
    let text = try #require(reason(await client.send(.test(1))))
    #expect(text.contains("certificate"), "\(text)")
    #expect(text.contains(server.url), "\(text)")
    await client.close()
    #expect(await server.stop().requestIDs.isEmpty)
  }

  @Test("A server without HTTP/2 is refused, in clear words")
  func noALPN() async throws {
    let server = try await FaultServer(#"{"alpn": false, "connections": [{}]}"#)
    let client = try TestClient(server.url, requestTimeout: .seconds(10))
    let text = try #require(reason(await client.send(.test(1))))
    #expect(text.contains("did not agree to HTTP/2"), "\(text)")
    await client.close()
    _ = await server.stop()
  }

  @Test("A file of authorities that is missing is named")
  func missingAuthorities() async throws {
    let server = try await FaultServer(#"{"connections": [{}]}"#)
    let client = try TestClient(
      server.url, ca: "nowhere.pem", requestTimeout: .seconds(5))
    let text = try #require(reason(await client.send(.test(1))))
    #expect(text.contains("nowhere.pem"), "\(text)")
    await client.close()
    _ = await server.stop()
  }

  @Test("Nobody listens: few tries with back-off, and the report comes by the deadline")
  func connectionRefused() async throws {
    // A port that no program is given.
    let client = try TestClient("https://127.0.0.1:1", requestTimeout: .seconds(5)) {
      $0.backoffBase = .milliseconds(200)
    }
    let text = try #require(reason(await client.send(.test(1))))
    #expect(text.lowercased().contains("connect"), "\(text)")
    await client.close()
    var tries = 0
    for await event in client.events {
      if case .connectFailed = event.kind { tries += 1 }
      if event.connection == 1, tries > 0, client.client.statistics(of: .production).queued == 0 {
        break
      }
    }
    #expect(tries >= 1)
  }

  @Test("R12: sandbox and production pushes never meet")
  func environments() async throws {
    let production = try await FaultServer(#"{"connections": [{}]}"#)
    let sandbox = try await FaultServer(#"{"connections": [{}]}"#)
    let client = try TestClient(production.url) {
      guard let endpoint = try? APNsEndpoint(sandbox.url) else { return }
      $0.sandbox = endpoint
    }
    let requests = (0..<400).map { number in
      PushRequest.test(number, network: number.isMultiple(of: 2) ? .production : .sandbox)
    }
    #expect(await client.send(requests).allSatisfy { $0 == .accepted })
    await client.close()
    let even = Set(requests.filter { $0.network == .production }.map(\.idText))
    #expect(Set(await production.stop().requestIDs) == even)
    #expect(Set(await sandbox.stop().requestIDs) == Set(requests.map(\.idText)).subtracting(even))
  }

  @Test("What can't be sent at all is refused without a connection")
  func invalid() async throws {
    let client = try TestClient("https://127.0.0.1:1")
    let outcomes = await client.send([
      .test(1, payload: []), .test(2, payload: Array(repeating: 0x20, count: 4097)),
      .test(3, topic: ""), .test(4, topic: "a\r\nb"),
    ])
    #expect(
      outcomes.allSatisfy {
        if case .unsent(.invalid) = $0 { true } else { false }
      }, "\(outcomes)")
    #expect(client.client.statistics(of: .production) == TransportStatistics())
    await client.close()
  }
}

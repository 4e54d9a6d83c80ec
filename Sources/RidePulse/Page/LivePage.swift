import AdminServer
import Orchestrator
import PostgresStore
import RideCore

/// Serves the page at `/`, and the requests of its script.
///
/// Only a ride's history may need a token: see docs/page.md.
final class LivePage: Sendable {
  private let service: Service
  private let stream: LiveStream
  private let timeline: TimelineCache

  init(_ service: Service) {
    self.service = service
    stream = LiveStream(service)
    timeline = TimelineCache(
      conninfo: service.conninfo, configuration: { service.engine.configuration })
  }

  var routes: [Route] {
    PageFile.routes + [
      Route("GET", "/live") { [stream] _ in stream.answer() },
      Route("GET", "/timeline") { [timeline] _ in
        do {
          return Self.json(try await timeline.json())
        } catch {
          return Self.noAnswer
        }
      },
      Route("GET", "/ride", isPrivate: true) { [service] request in
        await Self.ride(request, service)
      },
    ]
  }

  /// Ends all streams to browsers.
  func close() { stream.close() }

  private static func ride(_ request: HTTPRequest, _ service: Service) async -> HTTPResponse {
    guard let id = request.query["id"], !id.isEmpty else {
      return .text(400, "which one? such as /ride?id=r1")
    }
    do {
      let history = try await service.history(of: id)
      if history.isEmpty { return .text(404, "nothing is known of this ride") }
      return json(Array(ExplainJSON.text(RideStory(history, of: id)).utf8))
    } catch {
      return noAnswer
    }
  }

  private static var noAnswer: HTTPResponse { .text(503, "the database does not answer") }

  private static func json(_ body: [UInt8]) -> HTTPResponse {
    var response = HTTPResponse.text(200, "")
    response.contentType = "application/json"
    response.headers = PageHeaders.all
    response.body = body
    return response
  }
}

import AdminServer
import RideCore

/// The listening ports of a running service: the admin server and the wake port.
final class ServiceEndpoints {
  private var admin: AdminServer?
  private var wakePort: WakePort?
  private let page: LivePage

  /// Opens the ports that the command line and the environment name.
  ///
  /// - Throws: If a requested port can't be opened. A failure of the default admin address is only
  ///   logged, because a second service on the machine must not fail for it.
  init(_ service: Service, _ context: CommandContext, _ log: Log) throws {
    let wake: @Sendable () async -> String = { await service.wake() }
    page = LivePage(service)
    if let text = context.arguments.value("--wake") {
      let port = try WakePort(Self.address(text, "--wake"), wake: wake)
      wakePort = port
      log(.info, "Wake port", ["address": text, "port": "\(port.port)"])
    }
    let asked = context.environment["RIDEPULSE_ADMIN"].flatMap { $0.isEmpty ? nil : $0 }
    if asked == "off" { return }
    let address = asked ?? "127.0.0.1:9464"
    do {
      let server = try AdminServer(
        Self.address(address, "RIDEPULSE_ADMIN"),
        token: context.environment["RIDEPULSE_ADMIN_TOKEN"],
        queries: AdminQueries(problems: { service.problems }, wake: wake),
        routes: [
          Route("GET", "/metrics") { _ in
            var page = HTTPResponse.text(200, "")
            page.contentType = "text/plain; version=0.0.4; charset=utf-8"
            page.body = Array(await service.metrics().utf8)
            return page
          }
        ] + APIRoutes(service).all + page.routes)
      admin = server
      log(.info, "Admin server", ["address": address, "port": "\(server.port)"])
    } catch let error as ListenError where asked == nil {
      log(
        .warning, "Admin server not started; set another address in RIDEPULSE_ADMIN, or off",
        ["error": "\(error)"])
    }
  }

  func close() {
    wakePort?.stop()
    // The admin server waits for responses in progress, and the page's streams never end.
    page.close()
    admin?.stop()
  }

  private static func address(_ text: String, _ name: String) throws -> ListenAddress {
    guard let address = ListenAddress(text) else {
      throw CommandFailure("\(name) is \(text); expected HOST:PORT, such as 127.0.0.1:6000")
    }
    return address
  }
}

package import RideCore
package import SimulatorKit

/// Opens the inbox of a simulator, as `--inbox` asks for.
package enum InboxPort {
  /// - Parameters:
  ///   - service: the simulator's name.
  ///   - control: answers calls that change a phone; nil for any other.
  package static func open(
    _ endpoint: Endpoint, for inbox: MessageInbox, of service: String, on platform: Platform,
    control: @escaping (Request, WallTime) -> Answer?
  ) throws -> WebPort {
    let site = InboxSite(inbox, of: service, for: platform, at: endpoint, control: control)
    return try WebPort(endpoint, site: site)
  }

  /// Prints the address.
  package static func announce(_ port: WebPort, of service: String) {
    Log.print("\(service): inbox at \(port.url)/\n")
    if !port.isLoopback {
      Log.write("the inbox at \(port.url)/ can be read and used from other machines")
    }
  }
}

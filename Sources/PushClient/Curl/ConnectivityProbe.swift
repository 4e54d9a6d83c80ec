package import RideCore
import SystemSupport

/// Why no connection to APNs can be opened.
package struct ConnectivityFailure: Error, Hashable, Sendable {
  /// The part of the setup that has to be fixed.
  package enum Kind: Hashable, Sendable {
    /// No TLS server answered: the name, the route or a host on it is at fault.
    case unreachable
    /// The server's certificate has no trusted authority, or is not valid for this name or time.
    case untrusted
    /// TLS succeeded, but the server does not support HTTP/2.
    case noHTTP2
    /// The file of additional authorities can't be used.
    case badAuthorities
  }

  package var kind: Kind
  /// The problem with its address; safe to log.
  package var text: String

  package init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }
}

extension APNsConfiguration {
  /// Opens a connection as the client does (DNS, TCP, proxy, TLS and ALPN), then closes it.
  ///
  /// It ends within `connectTimeout`.
  package func probeConnectivity(to environment: APNsEnvironment) async throws(ConnectivityFailure)
  {
    let (endpoint, timeout, caFile) = (
      endpoint(of: PushNetwork(environment)), connectTimeout, caFile
    )
    let problem: ConnectivityFailure? = await withCheckedContinuation { done in
      let thread = WorkerThread {
        do throws(CurlError) {
          _ = try CurlConnection(
            to: endpoint, timeout: timeout, verifier: TLSVerifier(caFile: caFile))
          done.resume(returning: nil)
        } catch {
          done.resume(returning: ConnectivityFailure(error.kind, error.text))
        }
      }
      if let thread {
        thread.detach()
      } else {
        done.resume(
          returning: ConnectivityFailure(.unreachable, "\(TransportStartError())"))
      }
    }
    if let problem { throw problem }
  }
}

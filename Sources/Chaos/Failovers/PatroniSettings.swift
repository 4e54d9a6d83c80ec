import Foundation
import LocalStack

/// The TCP ports of one member, all on 127.0.0.1.
struct PatroniPorts: Hashable, Sendable {
  let postgres: Int
  let rest: Int
  let raft: Int
}

/// The configuration files of a private Patroni cluster, without etcd: the members agree among
/// themselves by Raft, with a third one that has no data.
struct PatroniSettings: Sendable {
  let directory: String
  let binaries: String
  let replication: Replication
  /// The members by name; those with data, and the one without.
  let ports: [String: PatroniPorts]

  /// The file of a member with data.
  func member(_ name: String) -> String {
    let own = ports[name] ?? PatroniPorts(postgres: 0, rest: 0, raft: 0)
    let folder = "\(directory)/\(name)"
    return """
      scope: ridepulse
      name: \(name)
      \(raft(name))
      restapi:
        listen: 127.0.0.1:\(own.rest)
        connect_address: 127.0.0.1:\(own.rest)
      bootstrap:
        dcs:
          # A dead primary is replaced after this time; Patroni accepts no less.
          ttl: 20
          loop_wait: 2
          retry_timeout: 5
          synchronous_mode: \(replication != .asynchronous)
          synchronous_mode_strict: \(replication == .strict)
          # The most that an asynchronous failover may lose, in bytes of the log.
          maximum_lag_on_failover: 67108864
          postgresql:
            use_pg_rewind: true
            use_slots: true
            parameters:
              wal_log_hints: "on"
              max_connections: 200
              shared_buffers: 64MB
              timezone: UTC
              # Other kinds use /dev/shm, where a killed server would leave its memory.
              dynamic_shared_memory_type: mmap
        initdb:
          - username: postgres
          - auth: trust
          - encoding: UTF8
          - locale: C
          - data-checksums
        pg_hba:
          - local all all trust
          - host all all 127.0.0.1/32 trust
          - host replication all 127.0.0.1/32 trust
      postgresql:
        listen: 127.0.0.1:\(own.postgres)
        connect_address: 127.0.0.1:\(own.postgres)
        data_dir: \(folder)/data
        bin_dir: \(binaries)
        pgpass: \(folder)/pgpass
        authentication:
          superuser: { username: postgres }
          replication: { username: replicator }
          rewind: { username: rewind }
        parameters:
          unix_socket_directories: \(folder)
        remove_data_directory_on_rewind_failure: true
        remove_data_directory_on_diverged_timelines: true

      """
  }

  /// The file of the member that only votes.
  func controller(_ name: String) -> String { "scope: ridepulse\nname: \(name)\n\(raft(name))\n" }

  private func raft(_ name: String) -> String {
    let partners = ports.filter { $0.key != name }.map { "\"127.0.0.1:\($0.value.raft)\"" }.sorted()
    return """
      raft:
        data_dir: \(directory)/\(name)/raft
        self_addr: 127.0.0.1:\(ports[name]?.raft ?? 0)
        partner_addrs: [\(partners.joined(separator: ", "))]
      """
  }
}

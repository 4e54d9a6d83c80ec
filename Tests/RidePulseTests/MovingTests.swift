import Base
import Foundation
import PostgresStore
import RideCore
import TestSupport
import Testing

/// docs/moving.md, played: an old sender next to a service, from the shadow to the end.
@Suite("Moving from an old sender", .timeLimit(.minutes(60))) struct MovingTests {
  private static let people = 30

  /// What moves, by the state whose push it is.
  private static let kinds = ["assigned": "driver_assigned", "arrived": "driver_arrived"]

  /// - Parameter isGated: Whether the rules leave people to the old sender.
  private static func rules(isGated: Bool) -> String {
    let rules = kinds.sorted { $0.key < $1.key }.map { kind, state in
      let gate =
        "    if: has(ride.attributes.moving.\(kind)) "
        + "&& share('moving') < ride.attributes.moving.\(kind)\n"
      return """
          - name: \(kind)
            app: customer
            on: \(state)
        \(isGated ? gate : "")    alert: { title: "\(state)", body: "{{ride.attributes.plate}}" }
            expires: 1h

        """
    }
    return """
      states: { active: [requested, driver_assigned, driver_arrived], final: [ride_completed] }
      rules:

      """ + rules.joined()
  }

  /// The company's database, as docs/moving.md changes it.
  private func addBookings(_ stage: Stage) async throws {
    try await stage.sql(
      """
      create table moving (kind text primary key, share double precision not null);
      create function moving_now() returns jsonb language sql stable
        as $$ select coalesce(jsonb_object_agg(kind, share), '{}') from moving $$;
      create table bookings (
        id text primary key, status text not null, rider text, plate text,
        moving jsonb not null default '{}');
      select ridepulse.watch('bookings', '{"id": "id", "state": "status", "customer_id": "rider",
        "attributes": ["plate", "moving"]}')
      """)
  }

  /// The old sender's log, a line for each push.
  private final class OldSender {
    var log = "time,person,kind,text\n"
    var count = 0

    /// Sends for bookings that changed to a state, unless the share leaves the person to the rules.
    func send(_ kind: String, _ prefix: String, _ stage: Stage) async throws {
      let rows = try await stage.rows(
        """
        select clock_timestamp(), rider, plate from bookings
        where id like '\(prefix)%' and status = '\(MovingTests.kinds[kind] ?? "")'
          and ridepulse.share('moving', rider) >= coalesce((moving ->> '\(kind)')::double precision, 0)
        order by id
        """)
      for row in rows {
        let text = row.compactMap(\.self)
        log += "\(text[0]),\(text[1]),\(kind),\(text[2])\n"
        count += 1
      }
    }
  }

  /// Returns how many pushes of a step's rides the service sent.
  private func sent(_ prefix: String, _ stage: Stage) async throws -> Int {
    let text = try await stage.value(
      "select count(*) from ridepulse.deliveries where ride_id like '\(prefix)%' and status = 'accepted'"
    )
    return text.flatMap { Int($0) } ?? -1
  }

  /// Returns how many of a step's people the shares leave to the rules.
  private func moved(_ prefix: String, _ shares: [Double], _ stage: Stage) async throws -> Int {
    let text = try await stage.value(
      """
      select count(*) from generate_series(1, \(Self.people)) n,
        unnest(array[\(shares.map { "\($0)" }.joined(separator: ", "))]) share
      where ridepulse.share('moving', '\(prefix)' || n) < share
      """)
    return text.flatMap { Int($0) } ?? -1
  }

  /// Plays the rides of a step. In the middle of them the next step begins.
  private func ride(
    _ prefix: String, _ stage: Stage, _ sender: OldSender, next: String? = nil
  ) async throws {
    try await stage.sql(
      """
      select ridepulse.register_device('customer', '\(prefix)' || n, md5('\(prefix)' || n) || md5(n::text))
      from generate_series(1, \(Self.people)) n;
      insert into bookings (id, status, rider, plate, moving)
      select '\(prefix)' || n, 'requested', '\(prefix)' || n, 'B-RP ' || n, moving_now()
      from generate_series(1, \(Self.people)) n
      """)
    try await stage.settled()
    for (kind, state) in [("assigned", "driver_assigned"), ("arrived", "driver_arrived")] {
      try await stage.sql("update bookings set status = '\(state)' where id like '\(prefix)%'")
      try await sender.send(kind, prefix, stage)
      try await stage.settled()
      if kind == "assigned", let next { try await stage.sql(next) }
    }
    try await stage.sql("update bookings set status = 'ride_completed' where id like '\(prefix)%'")
    try await stage.settled()
  }

  private func compare(
    _ log: String, _ environment: [String: String], _ stage: Stage, _ options: String...
  ) throws -> Tool {
    let path = stage.directory + "/old.csv"
    try Data(log.utf8).write(to: URL(fileURLWithPath: path))
    return try Command.ridepulse(["compare", path] + options, environment)
  }

  @Test func `each person and event has exactly one sender at each step`() async throws {
    try await Stage.run { stage in
      try await addBookings(stage)
      let shadow = try stage.environment(rules: Self.rules(isGated: false))
      let shadowServer = try Server(shadow.merging(["RIDEPULSE_RECORD": "100%"]) { $1 })
      // In the shadow both decide everything; phones receive what the old sender sends.
      let sender = OldSender()
      try await ride("shadow-", stage, sender)
      let all = 2 * Self.people
      #expect(try await sent("shadow-", stage) == all)
      let compared = try compare(sender.log, shadow, stage, "--format", "json")
      #expect(compared.status == 0, "\(compared)")
      let report = JSONValue(json: compared.output.utf8)
      #expect(report?.value(at: ["all", "both"]) == .integer(Int64(all)), "\(compared)")
      #expect(report?.value(at: ["all", "same_texts"]) == .integer(Int64(all)), "\(compared)")
      #expect(shadowServer.stop() == 0)

      let real = try stage.environment(rules: Self.rules(isGated: true))
      let server = try Server(real)
      let set =
        "insert into moving values ('%', @) on conflict (kind) do update set share = excluded.share"
      func change(_ kind: String, _ share: String) -> String {
        set.replacing("%", with: kind).replacing("@", with: share)
      }
      let now = Date().timeIntervalSince1970
      let hour = (
        from: CivilTime.iso(Timestamp(epochSeconds: Int64(now) - 1800)),
        to: CivilTime.iso(Timestamp(epochSeconds: Int64(now) + 1800))
      )
      // A step, what begins in the middle of it, and the shares by which its rides began.
      let steps: [(prefix: String, next: String, arrived: Double, assigned: Double)] = [
        ("off-", change("arrived", "0.3"), 0, 0),
        ("some-", change("arrived", "1"), 0.3, 0),
        ("rule-", change("assigned", "0.5"), 1, 0),
        ("back-", change("arrived", "0.1") + ";" + change("assigned", "0"), 1, 0.5),
        ("again-", "update moving set share = 1", 0.1, 0),
        ("done-", "select 1", 1, 1),
      ]
      for step in steps {
        let old = OldSender()
        try await ride(step.prefix, stage, old, next: step.next)
        let new = try await sent(step.prefix, stage)
        let expected = try await moved(step.prefix, [step.arrived, step.assigned], stage)
        #expect(new == expected && old.count == all - expected, "\(step) \(new) \(old.count)")
        let compared = try compare(
          old.log, real, stage, "--fail-on", "both,undecided", "--from", hour.from, "--to", hour.to)
        #expect(compared.status == 0, "\(step) \(compared)")
      }
      #expect(server.stop() == 0)
      // No person received a push of a ride twice.
      let doubled = try await stage.rows(
        """
        select ride_id, owner_id, rule from ridepulse.deliveries where status = 'accepted'
        group by 1, 2, 3 having count(*) > 1
        """)
      #expect(doubled.isEmpty)
    }
  }
}

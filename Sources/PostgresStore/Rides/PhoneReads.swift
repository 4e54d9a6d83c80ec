import Base
internal import RideCore

/// Reads phones, after the ID of the ride that they are read for.
struct PhoneRead: Sendable {
  let ride: ResultColumn<String>
  let id: ResultColumn<Int64>
  let app: ResultColumn<String>
  let owner: ResultColumn<String>
  let token: ResultColumn<String>
  /// A word of `PhoneReach`.
  let reach: ResultColumn<String>
  let locale: ResultColumn<String>
  let timeZone: ResultColumn<String>
  let installation: ResultColumn<String>
  /// `PhoneProblem` as JSON; nil for a phone without one.
  let problem: ResultColumn<String>
  /// The last contact that may have been this phone's; nil if it was not read.
  let contactedAt: ResultColumn<Timestamp>
  /// The topics that the owner has turned off; nil for none, and if they were not read.
  let optOuts: ResultColumn<String>
  private let sql: String

  /// With the last contacts, for rules that use them: two more lookups for each phone.
  static let withContacts = PhoneRead(contacts: true)
  static let withoutContacts = PhoneRead()

  /// - Parameter optOuts: whether to read what owners have turned off, for rules with a topic: one
  ///   more lookup for each phone.
  private init(contacts: Bool = false, optOuts: Bool = false) {
    var list = SelectList()
    ride = list.text("ride_id")
    id = list.integer("d.id")
    app = list.text("d.app")
    owner = list.text("d.owner_id")
    token = list.text("d.token")
    reach = list.text(PhoneReach.sql)
    locale = list.text("d.locale")
    timeZone = list.text("d.time_zone")
    installation = list.text("d.installation_id")
    problem = list.text(
      """
      case when d.refusals > 0 or d.probe is not null or d.is_probed and d.environment is null
          or d.quiet_until > now() then jsonb_strip_nulls(jsonb_build_object(
        'refusals', d.refusals, 'probe', d.probe, 'isProbed', d.is_probed,
        'quietUntil', \(SQLTime.micros("d.quiet_until")),
        'isQuarantined', d.quarantined_at is not null)) end
      """)
    contactedAt = list.time(
      micros: contacts
        ? """
        (select \(SQLTime.micros("k.contacted_at")) from (\(Self.contact)) k)
        """ : "null::bigint")
    self.optOuts = list.text(optOuts ? OptOutColumn.sql(of: "d") : OptOutColumn.none)
    sql = list.sql
  }

  /// The last contact of a phone `d`, or of its owner on an unknown phone.
  ///
  /// For a phone whose installation is unknown, any contact of its owner counts.
  private static let contact = """
    select case when d.installation_id is null then c.contacted_at
      else nullif(greatest(coalesce(c.unnamed_at, c.contacted_at), i.contacted_at), '-infinity')
      end as contacted_at
    from ridepulse.contacts c
    left join ridepulse.installation_contacts i on i.app = c.app and i.owner_id = c.owner_id
      and i.installation_id = d.installation_id
    where c.app = d.app and c.owner_id = d.owner_id
    """

  /// The phones of people, and those that memos name.
  ///
  /// Its parameters are the rows of `RidePerson` and of `TokenInMemo`, then the limit of phones of a
  /// person.
  static let ofPeople = withoutContacts.ofPeople("phones_of_people")
  static let ofPeopleWithContacts = withContacts.ofPeople("phones_of_people_contacts")
  private static let ofPeopleWithOptOuts =
    PhoneRead(optOuts: true).ofPeople("phones_of_people_topics")
  static let ofPeopleWithBoth =
    PhoneRead(contacts: true, optOuts: true).ofPeople("phones_of_people_contacts_topics")

  /// The statement that reads what these rules depend on.
  static func ofPeople(for rules: RuleSet) -> Statement {
    switch (rules.asksForPhoneContacts, rules.asksForPreferences) {
    case (false, false): ofPeople
    case (true, false): ofPeopleWithContacts
    case (false, true): ofPeopleWithOptOuts
    case (true, true): ofPeopleWithBoth
    }
  }

  private func ofPeople(_ name: String) -> Statement {
    Statement(
      name: name,
      sql: """
        select \(sql)
        from \(RidePerson.rows.table("person"))
        cross join lateral (
          select * from ridepulse.current_devices d
          where d.app = person.app and d.owner_id = person.owner_id and d.id > person.covered
          order by d.id limit $\(TokenInMemo.rows.last + 1)::bigint
        ) d
        union all
        -- Phones of retries, which may belong to owners that the ride no longer names. Some are
        -- listed again: `RideRows.readPhones` skips them at less cost.
        select \(sql)
        from \(TokenInMemo.rows.table("m"))
        cross join lateral (
          select * from ridepulse.current_devices d where d.id = m.token_id offset 0
        ) d
        order by 2
        """)
  }

  /// The phones that raw pushes name by their tokens. $1 ride IDs.
  ///
  /// They are not looked up by owner, because a phone may have been registered for one since its
  /// push was committed.
  static let ofRawPushes = Statement(
    name: "claimed_raw_phones",
    sql: """
      select \(withoutContacts.sql)
      from ridepulse.events e
      join ridepulse.current_devices d
        on d.app = e.data ->> 'app' and d.token = e.data ->> 'token'
      where e.ride_id = any ($1::text[])
      """)
}

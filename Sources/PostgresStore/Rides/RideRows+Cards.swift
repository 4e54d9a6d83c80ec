import RideCore

/// Cards, the tokens that start them, and the channels of broadcasts.
extension RideRows {
  mutating func readCards(_ rows: QueryResult) {
    let columns = CardRead.all
    for row in 0..<rows.rowCount {
      guard let ride = rows[row, columns.ride].map(RideID.init), let id = rows[row, columns.id],
        let app = rows[row, columns.app], let owner = rows[row, columns.owner].map(OwnerID.init),
        let token = rows[row, columns.token], let registered = rows[row, columns.registeredAt]
      else { continue }
      let environment = rows[row, columns.environment]
      // The row of an Android phone's card, which only a dismissal makes, has the phone as token.
      let phone = environment == Platform.android.rawValue ? Int64(token) : nil
      var card = Card(
        phone.map { .phone($0) } ?? .activity(id), app: App(rawValue: app), ownerID: owner,
        token: token, environment: environment.flatMap(APNsEnvironment.init(rawValue:)),
        isFrequent: rows[row, columns.isFrequent] == true,
        registeredAt: registered, isGone: rows[row, columns.isGone] == true)
      card.installationID = rows[row, columns.installation].map(InstallationID.init)
      let index = index(of: ride)
      views[index].cards.append(card)
      addOptOuts(rows[row, columns.optOuts], app, owner, index)
    }
  }

  mutating func readStartTokens(_ rows: QueryResult) {
    let columns = StartTokenRead.all
    for row in 0..<rows.rowCount {
      guard let ride = rows[row, columns.ride].map(RideID.init), let id = rows[row, columns.id],
        let app = rows[row, columns.app], let owner = rows[row, columns.owner].map(OwnerID.init),
        let type = rows[row, columns.attributesType], let token = rows[row, columns.token],
        let registered = rows[row, columns.registeredAt]
      else { continue }
      var start = StartToken(
        id: id, app: App(rawValue: app), ownerID: owner, attributesType: type, token: token,
        environment: rows[row, columns.environment].flatMap(APNsEnvironment.init(rawValue:)),
        registeredAt: registered)
      start.installationID = rows[row, columns.installation].map(InstallationID.init)
      let index = index(of: ride)
      views[index].startTokens.append(start)
      addOptOuts(rows[row, columns.optOuts], app, owner, index)
    }
  }

  mutating func readChannels(_ rows: QueryResult) {
    let columns = ChannelRead.all
    for row in 0..<rows.rowCount {
      guard let ride = rows[row, columns.ride].map(RideID.init), let id = rows[row, columns.id],
        let app = rows[row, columns.app],
        let environment = rows[row, columns.environment].flatMap(APNsEnvironment.init(rawValue:)),
        let storage = rows[row, columns.storage].flatMap(ChannelStorage.init(rawValue:)),
        let created = rows[row, columns.createdAt]
      else { continue }
      views[index(of: ride)].channels.append(
        RideChannel(
          id: id, app: App(rawValue: app), environment: environment, storage: storage,
          createdAt: created,
          standing: Self.standing(
            rows[row, columns.channel].flatMap { ChannelID($0) },
            isUnanswered: rows[row, columns.isUnanswered] == true,
            isEnded: rows[row, columns.isEnded] == true,
            reason: rows[row, columns.endedReason])))
    }
  }

  private static func standing(
    _ channel: ChannelID?, isUnanswered: Bool, isEnded: Bool, reason: String?
  ) -> RideChannel.Standing {
    if isEnded {
      if channel == nil { return .refused(reason ?? "no reason") }
      return RideChannel.isOver(endedReason: reason) ? .over : .closed
    }
    if let channel { return .open(channel) }
    return isUnanswered ? .unanswered : .creating
  }
}

#if canImport(ActivityKit) && canImport(UIKit)
  public import ActivityKit
  public import Foundation

  @available(iOSApplicationExtension, unavailable)
  extension RidePulsePhone {
    /// What the phone does with one type of card.
    struct CardType {
      let name: String
      var startToken: Data?
      /// Returns the IDs of the cards that are on the screen or wait for their start.
      let present: @MainActor () -> [String]
      let end: @MainActor () async -> Void
    }

    /// Reports all cards of a type and the tokens that start them, from now on. `ride` returns a card's ride.
    public func watch<Attributes: ActivityAttributes>(
      _ type: Attributes.Type, ride: @escaping @MainActor (Attributes) -> String
    ) {
      let name = String(describing: type)
      guard !types.contains(where: { $0.name == name }) else { return }
      types.append(
        CardType(
          name: name, startToken: Activity<Attributes>.pushToStartToken,
          present: {
            Activity<Attributes>.activities
              .filter { $0.activityState != .ended && $0.activityState != .dismissed }.map(\.id)
          },
          end: {
            for card in Activity<Attributes>.activities {
              await card.end(nil, dismissalPolicy: .immediate)
            }
          }))
      for card in Activity<Attributes>.activities { watch(card, ride: ride) }
      Task { for await card in Activity<Attributes>.activityUpdates { watch(card, ride: ride) } }
      Task {
        for await token in Activity<Attributes>.pushToStartTokenUpdates {
          guard let index = types.firstIndex(where: { $0.name == name }) else { return }
          types[index].startToken = token
          await report(type: name)
        }
      }
    }

    /// Starts the card of a ride, once, in the foreground; returns its ID, nil if the ride has one or Live
    /// Activities are off. `staleDate` is when to doubt it without an update.
    public func startCard<Attributes: ActivityAttributes>(
      _ attributes: Attributes, _ state: Attributes.ContentState, staleDate: Date?,
      ride: @escaping @MainActor (Attributes) -> String
    ) throws -> String? {
      guard canStart(attributes, ride) else { return nil }
      let content = ActivityContent(state: state, staleDate: staleDate)
      let card = try Activity.request(
        attributes: attributes, content: content, pushType: .token)
      watch(card, ride: ride)
      return card.id
    }

    /// Schedules the card of a later ride: iOS starts it at `start` with this alert, also if the app does not run.
    @available(iOS 26, *)
    public func scheduleCard<Attributes: ActivityAttributes>(
      _ attributes: Attributes, _ state: Attributes.ContentState, staleDate: Date?, start: Date,
      alert: AlertConfiguration, ride: @escaping @MainActor (Attributes) -> String
    ) throws -> String? {
      guard canStart(attributes, ride) else { return nil }
      let content = ActivityContent(state: state, staleDate: staleDate)
      let card = try Activity.request(
        attributes: attributes, content: content, pushType: .token, style: .standard,
        alertConfiguration: alert, start: start)
      watch(card, ride: ride)
      return card.id
    }

    private func canStart<Attributes: ActivityAttributes>(
      _ attributes: Attributes, _ ride: @MainActor (Attributes) -> String
    ) -> Bool {
      permission.areActivitiesEnabled
        && !Activity<Attributes>.activities.contains { ride($0.attributes) == ride(attributes) }
    }

    private func watch<Attributes: ActivityAttributes>(
      _ card: Activity<Attributes>, ride: @MainActor (Attributes) -> String
    ) {
      let (id, rideID) = (card.id, ride(card.attributes))
      guard watched.insert(id).inserted else { return }
      Task {
        for await token in card.pushTokenUpdates {
          cards[id] = (ride: rideID, token: token)
          await report(card: id)
        }
      }
      Task {
        for await state in card.activityStateUpdates where state == .ended || state == .dismissed {
          // After a sign-out the server has withdrawn it.
          if cards.removeValue(forKey: id) != nil { await client.cardEnded(id) }
        }
      }
    }

    func watchPermission() {
      Task {
        for await _ in permission.activityEnablementUpdates {
          for type in types.map(\.name) { await report(type: type) }
        }
      }
      Task {
        for await _ in permission.frequentPushEnablementUpdates {
          for id in Array(cards.keys) { await report(card: id) }
        }
      }
    }

    func report(card id: String) async {
      guard isSignedIn, let card = cards[id] else { return }
      await client.card(
        id, ride: card.ride, token: card.token, isFrequent: permission.frequentPushesEnabled)
    }

    /// Without Live Activities a start token starts nothing.
    func report(type name: String) async {
      guard isSignedIn, let token = types.first(where: { $0.name == name })?.startToken else {
        return
      }
      if permission.areActivitiesEnabled {
        await client.start(type: name, token: token)
      } else {
        await client.withdrawStart(type: name, token: token)
      }
    }
  }
#endif

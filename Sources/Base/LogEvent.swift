/// An event that a log records: its code, which stays the same if the message is reworded, and its
/// message.
///
/// The code is the case's name in snake_case; docs/logs.md lists all of them.
package enum LogEvent: String, CaseIterable, Sendable {
  // A process.
  case commandFailed = "Command failed"
  case serving = "Serving"
  case waitingForPostgres = "Waiting for Postgres"
  case waitingForSchema = "Waiting for the schema"
  case cellNotStarted = "Cell not started, trying again"
  case adminServerListening = "Admin server"
  case adminServerNotStarted =
    "Admin server not started; set another address in RIDEPULSE_ADMIN, or off"
  case wakePortListening = "Wake port"
  case runningAsSuperuser = "Running as a superuser, use another role"
  case recordingRides = "Recording rides"
  case stopping = "Stopping: no new claims"
  case stopped = "Stopped"
  case serviceStuck = "Service stuck, watchdog keepalives stopped"
  case serviceRunningAgain = "Service running again"
  case serviceManagerNotNotified = "Notifying the service manager failed"
  case decisionEndless = "Decision does not return, ending the process"
  case recovered = "Recovered"

  // Files, which SIGHUP reads again.
  case rulesReloaded = "Rule files reloaded"
  case rulesNotReloaded = "Rule files not reloaded: the new ones have errors"
  case rulesRefused = "Rule files refused"
  case lastGoodRulesUsed = "Starting with the last good rules of the database"
  case rulesTooLarge = "Rule files too large to be stored for other nodes"
  case rulesOfShare = "Second rule directory decides a share of the rides"
  case rulesNotCompared = "Rules not stored or compared"
  case nodesDiffer = "Nodes decide with different rules"
  case nodesAgree = "Nodes decide with the same rules again"
  case keysReloaded = "APNs keys reloaded"
  case keysNotReloaded = "APNs keys not reloaded: all previous ones stay in use"
  case serviceAccountsReloaded = "FCM service accounts reloaded"
  case serviceAccountsNotReloaded =
    "FCM service accounts not reloaded: all previous ones stay in use"
  case receiversReloaded = "Receivers of posts reloaded"
  case receiversNotReloaded = "Receivers of posts not reloaded: the previous ones stay in use"
  case credentialsDoubtful = "APNs credentials need attention"
  case pushesNotConfigured = "Pushes not sent: check the configuration"
  case unknownWordIgnored = "Event ignored: not declared by any rule file"
  case appsNotRecorded = "Apps not recorded"
  case revisionNotRecorded = "Revision of the ledger not recorded"
  case revisionAmbiguous = "Revision of the ledger is ambiguous"

  // Claims.
  case claimFailed = "Claim failed, retrying"
  case claimReduced = "Claim failed, claiming fewer rides"
  case claimRecovered = "Claim succeeded again"
  case lostClaimFailed = "Claim of lost rides failed, retrying"
  case lostClaimRecovered = "Claim of lost rides succeeded again"
  case callBeforeSendingFailed = "Call before sending failed, retrying"
  case permitsRecovered = "Permits granted again"
  case journalRecovered = "Journal written again"
  case phonesNotRead = "Phones not read again, pushes deferred"
  case memoUnreadable = "A ride's memo can't be read"
  case reschedulingRides = "Schedule rules changed, rescheduling live rides"
  case reschedulingFailed = "Rescheduling live rides failed, retrying"
  case claimingPausedWithoutAPNs =
    "Claiming paused: APNs can't be reached, and another node reaches it"
  case claimingPausedWithoutFCM =
    "Claiming paused: FCM can't be reached, and another node reaches it"
  case claimingPausedBySilentAPNs =
    "Claiming paused: APNs answers nothing, and another node reaches it"
  case claimingPausedBySilentFCM =
    "Claiming paused: FCM answers nothing, and another node reaches it"
  case claimingResumed = "Claiming resumed"

  // Rides under a lease.
  case leasesLostBeforeSending = "Leases lost before sending"
  case leasesLostBeforeSettling = "Leases lost before settling"
  case leaseRenewalFailed = "Lease renewal failed; another node may send these rides again"
  case releaseFailed = "Release failed, rides left to their lease"
  case ridesLeftByCall = "Rides left to their lease: a call before sending failed"
  case ridesLeftByAge = "Rides left to their lease: claimed too long ago"
  case ridesLeftByStop = "Rides left to their lease: not settled before the stop"
  case unreadableRidesLeft = "Unreadable rides left to their lease"
  case rideParkedBySettlement = "Ride parked: settlement refused"
  case rideParkedByReading = "Ride parked: unreadable"
  case rideParkedByNode = "Ride parked: it ended its node"
  case settlementFailed = "Settlement failed, claiming paused"
  case settlementFailedOtherwise = "Settlement failed for another reason"
  case settlementRecovered = "Settlement succeeded, claiming resumed"
  case slotCountsWrong = "Slot counts do not add up; please report this"
  case pushesWaitForRetry = "Pushes wait for another attempt"
  case ridesParkedInRun = "Rides parked during this run"
  case ridesLeftDue = "Stopped before all due rides were handled"

  // Lanes and receivers.
  case lanePausedByQuota = "Lane paused: FCM's quota of its project is used up"
  case laneRefusedByAPNs = "Lane paused: APNs refuses its pushes; check keys and topics"
  case laneRefusedByFCM = "Lane paused: FCM refuses its pushes; check the service account"
  case lanePausedBySilentAPNs = "Lane paused: APNs is connected and answers no push"
  case lanePausedBySilentFCM = "Lane paused: FCM is connected and answers no push"
  case lanePausedWithoutAPNs = "Lane paused: APNs can't be reached; check DNS, network and proxy"
  case lanePausedWithoutFCM = "Lane paused: FCM can't be reached; check DNS, network and proxy"
  case laneResumed = "Lane resumed"
  case laneResumedByKey = "Lane resumed: its key or certificate was replaced"
  case laneResumedByServiceAccount = "Lane resumed: its service account was replaced"
  case apnsReachedAgain = "APNs reached again, the app's next push is sent"
  case fcmReachedAgain = "FCM reached again, the app's next push is sent"
  case receiverPaused = "Receiver paused: its posts fail; check the receiver"

  // Connections to APNs and FCM.
  case apnsConnected = "APNs connected"
  case fcmConnected = "FCM connected"
  case apnsUnreachable = "APNs unreachable"
  case fcmUnreachable = "FCM unreachable"
  case apnsSentGoAway = "APNs sent GOAWAY"
  case fcmSentGoAway = "FCM sent GOAWAY"
  case apnsPingUnanswered = "APNs connection lost: PING unanswered"
  case fcmPingUnanswered = "FCM connection lost: PING unanswered"
  case apnsConnectionClosed = "APNs connection closed"
  case fcmConnectionClosed = "FCM connection closed"
  case apnsStreamLimit = "APNs stream limit"
  case fcmStreamLimit = "FCM stream limit"
  case providerTokenExpired =
    "APNs refused the provider token as expired; check this node's clock"
  case apnsClockDiffers = "Database clock differs from APNs' clock; provider tokens corrected"
  case accessTokenFetched = "Access token fetched"
  case accessTokenNotFetched = "Access token not fetched, retrying"
  case accessTokenRefused = "FCM refused the access token"
  case googleClockDiffers = "Database clock differs from Google's clock; assertions corrected"

  // The database.
  case databaseConnected = "Database connected"
  case databaseConnectionLost = "Database connection lost"
  case databaseUnreachable = "Database unreachable"
  case databaseClockDiffers =
    "Local clock differs from the database clock; using the database clock"
  case databaseClockAgrees = "Local clock agrees with the database clock again"
  case pinMatches = "Database matches its pin, sending"
  case pinDiffers = "Database does not match its pin, nothing is claimed"
  case pinNotChecked = "Pin not checked, retrying"
  case postgresFailedOver = "Postgres failed over"
  case postgresIsAnotherServer = "Postgres is another server"
  case woken = "Woken"
  case notifyQueueFilling = "NOTIFY queue is filling up, polling instead"
  case listenApart = "LISTEN has an address of its own"
  case listenRecovered = "LISTEN works again"
  case listenWithoutEffect = "LISTEN has no effect, polling instead"
  case listenLost = "LISTEN lost: its connection did not answer; replacing it"

  // Work next to the engine.
  case tokenOutcomesApplied = "Token outcomes applied"
  case tokenOutcomesNotApplied = "Token outcomes not applied"
  case tokenOutcomeNotApplied = "Token outcome not applied, retrying"
  case tokenOutcomesWait = "Token outcomes wait for locked rows"
  case ledgerRotated = "Ledger partitions rotated"
  case ledgerNotRotated = "Ledger not rotated"
  case recordedPassesRotated = "Partitions of recorded passes rotated"
  case recordedPassesNotRotated = "Recorded passes not rotated"
  case oldRowsDeleted = "Old rows deleted"
  case oldRowsNotDeleted = "Old rows not deleted"
  case cardTypesNotRecorded = "Types of cards not recorded"
  case exportingSpans = "Exporting spans"
  case spansNotExported = "Spans not exported"
  case tracedReceiptsNotRead = "Receipts of traces not read"
  case telemetryVariableIgnored = "Variable of OpenTelemetry ignored"
  case phonesNotCounted = "Phones not counted"
  case watchProblemsNotRead = "Problems of attached tables not read"
  case tableNotCopied = "Attached table not copied"
  case tableHasUnusableValues = "Attached table has unusable values"
  case tableBackfilled = "Attached table backfilled"
  case tableNotBackfilled = "Attached table not backfilled"
  case tablesNotBackfilled = "Attached tables not backfilled"
  case pauseBegan = "Pause began"
  case pauseEnded = "Pause ended"
  case pausesNotRead = "Pauses not read"
  case channelsNotReconciled = "Channels not reconciled"
  case channelsNotListed = "Channel listing failed; no channels are created"
  case channelCreated = "Broadcast channel created"
  case channelNotCreated = "Broadcast channel not created"
  case channelDeleted = "Broadcast channel deleted"
  case channelNotDeleted = "Channel deletion failed, retrying in a minute"

  // The gateway of legacy senders.
  case gatewayServing = "Serving legacy senders"
  case gatewayStopping = "Stopping: no new connections"
  case gatewayFailed = "Gateway failed, retrying"
  case certificateSelfSigned =
    "Self-signed certificate: senders must be configured to trust it"
  case gatewayOpenToAll = "No --client-ca: any client that reaches this address may push"
  case senderRefused = "Sender refused"
  case senderDisconnected = "Sender disconnected"
  case senderLimitReached = "Sender limit reached; further senders wait"
  case handshakesClosed = "Unfinished handshakes closed: too many"
  case senderPushesLost =
    "Pushes lost: the sender disconnected and they could not be committed"
  case disabledPhonesReported = "Disabled phones reported"

  package var message: String { rawValue }

  /// The name by which a log is searched.
  package var code: String {
    var code = ""
    var wasCapital = true
    for scalar in "\(self)".unicodeScalars {
      let isCapital = scalar.properties.isUppercase
      if isCapital, !wasCapital { code += "_" }
      code += scalar.properties.lowercaseMapping
      wasCapital = isCapital
    }
    return code
  }
}

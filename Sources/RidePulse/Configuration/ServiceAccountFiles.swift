import PushClient
import RideCore

extension FCMVariables.Source {
  /// Reads the file.
  ///
  /// - Throws: `CommandFailure` that names the variable and the file, and nothing of its content.
  func load() throws(CommandFailure) -> ServiceAccount {
    if isContent { throw CommandFailure("\(variable) contains the file itself; expected its path") }
    do throws(ServiceAccountError) {
      return try ServiceAccount(path: path)
    } catch {
      throw CommandFailure("\(variable): \(error)")
    }
  }
}

extension FCMVariables.Source {
  /// Whether the variable holds the file, its key or one of both in base64: the message about a path
  /// would show it.
  private var isContent: Bool {
    path.utf8.count > 1_024 || ["{", "\n", #"\n"#, "-----BEGIN"].contains { path.contains($0) }
      || ["eyJ", "ewo", "LS0t", "MII"].contains { path.hasPrefix($0) }
  }
}

/// The files of service accounts, each read once.
struct ServiceAccountFiles: Sendable {
  private var files: [FCMVariables.Source: Result<ServiceAccount, CommandFailure>] = [:]

  init(_ sources: some Sequence<FCMVariables.Source>) {
    for source in sources where files[source] == nil {
      do throws(CommandFailure) { files[source] = .success(try source.load()) } catch {
        files[source] = .failure(error)
      }
    }
  }

  /// Returns the account of a file, or what is wrong with it; nil if it was not read.
  subscript(source: FCMVariables.Source) -> Result<ServiceAccount, CommandFailure>? {
    files[source]
  }

  /// Returns the account of an app; nil if it has none that can be used.
  func account(of app: App, _ variables: FCMVariables) -> ServiceAccount? {
    guard let source = variables.source(of: app), case .success(let account)? = files[source] else {
      return nil
    }
    return account
  }

  /// The problems of all files, in the order of their variables.
  var problems: [String] {
    files.sorted { $0.key.variable < $1.key.variable }.compactMap { file in
      if case .failure(let problem) = file.value { problem.description } else { nil }
    }
  }
}

extension FCMVariables {
  /// Reads every file once; returns the lanes of all apps that have one.
  ///
  /// - Throws: `CommandFailure` that names all problems.
  func load() throws(CommandFailure) -> [Credentials.Lane: Credentials.Choice] {
    let files = ServiceAccountFiles(apps.compactMap(source))
    if !files.problems.isEmpty { throw CommandFailure(files.problems.joined(separator: "; ")) }
    var lanes: [Credentials.Lane: Credentials.Choice] = [:]
    for app in apps {
      guard let account = files.account(of: app, self) else { continue }
      lanes[.init(app, .android)] = .init(serviceAccount: account)
    }
    return lanes
  }

  /// Reads every file again.
  ///
  /// - Throws: `CommandFailure`, also if a file is now of another project: every registration of the
  ///   first one would be refused.
  func reload(
    after old: Credentials
  ) throws(CommandFailure) -> [Credentials.Lane: Credentials.Choice] {
    let new = try load()
    for app in apps {
      let lane = Credentials.Lane(app, .android)
      guard let before = old[lane].serviceAccount?.project,
        let after = new[lane]?.serviceAccount?.project, before != after
      else { continue }
      throw CommandFailure(
        "\(source(of: app)?.variable ?? Self.generalName) leads to a file of the project \(after) "
          + "now, and the service sends for the project \(before), which the phones of \(app) are "
          + "registered with: put a file of \(before) there")
    }
    return new
  }
}

extension FCMVariables {
  /// Returns the lanes that stay if the files can't be read again: those in use, also for new apps
  /// whose file another app has already.
  func kept(of old: Credentials) -> [Credentials.Lane: Credentials.Choice] {
    var accounts: [Source: Credentials.Choice] = [:]
    for app in apps {
      let choice = old[.init(app, .android)]
      if let source = source(of: app), choice.serviceAccount != nil { accounts[source] = choice }
    }
    var lanes: [Credentials.Lane: Credentials.Choice] = [:]
    for app in apps { lanes[.init(app, .android)] = source(of: app).flatMap { accounts[$0] } }
    return lanes
  }

  /// Returns the Firebase project of each app that has a service account.
  func projects(in credentials: Credentials) -> [App: String] {
    var projects: [App: String] = [:]
    for app in apps {
      projects[app] = credentials[.init(app, .android)].serviceAccount?.project
    }
    return projects
  }
}

extension Credentials {
  /// Returns the same credentials with other service accounts.
  func with(_ accounts: [Lane: Choice], _ bundleIDs: [App: String]) -> Credentials {
    if accounts.isEmpty, !lanes.contains(where: { $0.key.network == .android }) { return self }
    let others = lanes.filter { $0.key.network != .android }
    return Credentials(lanes: others.merging(accounts) { $1 }, bundleIDs: bundleIDs)
  }

  /// The lanes of FCM.
  var android: [Lane: Choice] { lanes.filter { $0.key.network == .android } }
}

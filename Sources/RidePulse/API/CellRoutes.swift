import AdminServer
import Base
import Page
import RideCore

/// The routes of the API and the page: at the root, or for each of several cells below `/cells/NAME`.
enum CellRoutes {
  static func all(_ services: Services, _ reload: Reload, _ pages: [LivePage]) -> [Route] {
    let lists = zip(services.all, pages).map { service, page in
      APIRoutes(service, reload).all + page.routes
    }
    if services.only != nil { return lists.flatMap(\.self) }
    let names = services.all.map { $0.cell.name ?? "" }
    // The rules are those of all cells, so that reloading them concerns none in particular.
    let whole = lists[0].filter { $0.path == reloadPath }
    let ownLists = lists.map { $0.filter { $0.path != reloadPath } }
    let own = ownLists[0]
    let ofCells = own.indices.map { index in below(own[index], names, ownLists.map { $0[index] }) }
    return whole + files + [overview(names)] + ofCells
      + own.filter { $0.path.hasPrefix("/v1/") }.map { refusing($0, names) }
  }

  private static let reloadPath = "/v1/reload"

  /// The files of the page, which each cell's page refers to.
  private static var files: [Route] { PageFile.routes.filter { $0.path != "/" } }

  /// Returns a route that passes requests below `/cells/NAME` to the cell's own.
  private static func below(_ route: Route, _ names: [String], _ own: [Route]) -> Route {
    let byName = Dictionary(zip(names, own)) { first, _ in first }
    return Route(
      route.method, "/cells/{cell}" + route.path, isWriting: route.isWriting,
      isPrivate: route.isPrivate
    ) { request in
      guard let found = byName[request.parameters["cell"] ?? ""] else {
        let error = APIError(.notFound, "no such cell; the cells are \(list(names))")
        return error.response(below: request.path)
      }
      var request = request
      request.parameters["cell"] = nil
      return await found.answer(request)
    }
  }

  /// Returns a route that refuses a call without a cell: it would be written into any of them.
  private static func refusing(_ route: Route, _ names: [String]) -> Route {
    Route(route.method, route.path, isWriting: route.isWriting, isPrivate: route.isPrivate) { _ in
      APIError(
        .cellMissing,
        "this service has several cells: call /cells/NAME\(route.path); the cells are \(list(names))"
      ).response
    }
  }

  private static func overview(_ names: [String]) -> Route {
    Route("GET", "/") { _ in .text(200, names.map { "/cells/\($0)/" }.joined(separator: "\n")) }
  }

  private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}

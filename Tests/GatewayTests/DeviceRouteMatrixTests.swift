import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Testing

@testable import Gateway

/// Every route of a device with every scope, on devices other than cameras. `PermissionMatrixTests` does the same for all
/// routes with a doorbell.
@Suite struct DeviceRouteMatrixTests {
    private typealias Cell = PermissionMatrixTests.Cell

    /// The grants of the matrix, of which `grantedDevice` means the device of the paths.
    private static func access(_ cell: Cell, _ device: String) -> Access {
        Access([cell.place == .grantedDevice ? .init([cell.scope], deviceID: device) : cell.grant])
    }

    /// A home with a device of every kind in its first structure, and a camera in the second.
    private static func gateway() async throws -> TestGateway {
        let store = MemorySharedStore()
        for id in ["s1", "s2"] {
            let fields = #""name":"\#(id)","timeZone":"UTC","createdAt":"2026-01-01T00:00:00Z""#
            _ = store.write("structure", id, #"{"id":"\#(id)",\#(fields)}"#, expecting: 0)
        }
        let places = ObjectMatrixTests.types.keys.map { ($0, "s1") } + [("door", "s2"), ("yard", "s2")]
        for (id, structure) in places {
            let record = #"{"id":"\#(id)","key":"\#(id)","structureID":"\#(structure)"}"#
            _ = store.write("device", id, record, expecting: 0)
        }
        return try await ObjectMatrixTests.gateway(HomeDirectory(store))
    }

    /// What the table says of a route with the command of an object.
    private static func verdict(
        _ need: RoutePermissions.Need, _ cell: Cell, _ object: ObjectMatrixTests.Object
    ) -> PermissionMatrixTests.Verdict {
        let need: RoutePermissions.Need = need == .command ? .scope(object.scope, .device) : need
        if need == .owner, !cell.coversDevice { return .notFound }
        return PermissionMatrixTests.verdict(need, cell)
    }

    @Test(arguments: ObjectMatrixTests.objects.filter { ObjectMatrixTests.types[$0.device] != nil })
    func `the routes of a device ask for the same scopes whatever it is`(
        object: ObjectMatrixTests.Object
    ) async throws {
        let gateway = try await Self.gateway()
        let cells = Cell.all.map { (cell: $0, token: "gatehouse_\($0.scope)-\($0.place)") }
        for (cell, token) in cells {
            try await gateway.addToken(token, named: token, Self.access(cell, object.device))
        }
        let routes = RoutePermissions.table.filter { route, need in
            route.contains("/devices/{device}") && ![.secret, .token].contains(need)
        }
        #expect(routes.count > 25)
        try await gateway.run { client in
            let before = try await client.get("/v1/devices").text
            #expect(before.contains(#""id":"\#(object.device)""#))
            for (route, need) in routes.sorted(by: { $0.key < $1.key }) {
                let parts = route.split(separator: " ").map(String.init)
                let method = try #require(HTTPRequest.Method(parts[0]))
                let template = parts[1].replacing("{device}", with: object.device)
                    .replacing("{trait}", with: object.trait).replacing("{command}", with: object.command)
                let path = PermissionMatrixTests.path(template)
                let body = [.get, .head].contains(method) ? nil : "{}"
                for (cell, token) in cells {
                    let expected = Self.verdict(need, cell, object)
                    guard expected != .allowed else { continue }
                    let response = try await client.send(
                        method, path, body, type: body.map { _ in "application/json" }, token: token)
                    let status: HTTPResponse.Status = expected == .forbidden ? .forbidden : .notFound
                    #expect(response.status == status, "\(route) with \(cell): \(response.text)")
                    // An answer to HEAD has no body.
                    #expect((response.failure == nil) == (method == .head), "\(route) with \(cell)")
                }
                // What a token may do is never refused for its scope, even if the device has nothing for the request.
                // The fakes have a picture of every device, so this series has no end.
                guard method == .get, !route.hasSuffix("/live.mjpeg"),
                    let (cell, token) = cells.first(where: {
                        Self.verdict(need, $0.cell, object) == .allowed && $0.cell.place == .grantedDevice
                    })
                else { continue }
                let response = try await client.send(method, path, nil, type: nil, token: token)
                #expect(
                    response.status != .forbidden && response.status != .unauthorized,
                    "\(route) with \(cell): \(response.text)")
                #expect(response.failure?.message.hasPrefix("no device has the id") != true, "\(route) with \(cell)")
            }
            #expect(try await client.get("/v1/devices").text == before, "a refused request changed something")
        }
    }
}

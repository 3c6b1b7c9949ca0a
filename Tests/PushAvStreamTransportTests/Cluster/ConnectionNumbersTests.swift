import Foundation
import HomeTypes
import Testing

@testable import PushAvStreamTransport

/// The numbers of connections, which outlive the tables that gave them out.
@Suite struct ConnectionNumbersTests {
    private let folder: String
    private var path: String { "\(folder)/\(ConnectionNumbers.fileName)" }

    init() throws { folder = try UploadFixtures.temporaryFolder() }

    private func clean() { try? FileManager.default.removeItem(atPath: folder) }

    @Test func `what is kept is known at the next start`() throws {
        defer { clean() }
        let numbers = ConnectionNumbers(folder: folder)
        #expect(numbers.next(of: "door") == nil)
        try numbers.keep(5, of: "door")
        // A table may be an older copy.
        numbers.adopt(["door": 3, "yard": 9])
        for one in [numbers, ConnectionNumbers(folder: folder)] {
            #expect(one.next(of: "door") == 5 && one.next(of: "yard") == 9 && one.next(of: "shed") == nil)
        }
    }

    @Test func `a damaged file is set aside, and cameras without a table begin with high numbers`() throws {
        defer { clean() }
        try Data("{".utf8).write(to: URL(fileURLWithPath: path))
        let numbers = ConnectionNumbers(folder: folder)
        #expect(numbers.next(of: "door") == nil && numbers.nextWithoutTable(of: "door") == 30_001)
        #expect(numbers.loss?.contains("\(path).damaged-1") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path).damaged-1")) == Data("{".utf8))
        numbers.adopt(["door": 4])
        let later = ConnectionNumbers(folder: folder)
        #expect(later.loss == nil && later.next(of: "door") == 4 && later.nextWithoutTable(of: "door") == 4)
        #expect(later.nextWithoutTable(of: "shed") == 30_001)
    }

    @Test func `a new state folder has lost nothing`() throws {
        defer { clean() }
        let numbers = ConnectionNumbers(folder: folder)
        #expect(numbers.loss == nil && numbers.nextWithoutTable(of: "door") == nil)
    }

    private func service(_ numbers: ConnectionNumbers, cameras: [String]) throws -> TransportService {
        var clocks = TransportService.Clocks()
        clocks.wall = { Fixture.now }
        let service = try TransportService(storage: ForgetfulConnectionStorage(numbers: numbers), clocks: clocks)
        service.setEndpoints([1])
        service.setCameras(Dictionary(uniqueKeysWithValues: cameras.map { ($0, OwnConnection()) }))
        for camera in cameras { service.describe(camera, Fixture.streams) }
        return service
    }

    private func allocate(on device: String, of service: TransportService) async throws -> UInt16 {
        try await service.change(device) { table, camera, now throws(TransportFault) in
            try table.allocate(Fixture.options(), for: Fixture.me, of: camera, at: now).id
        }
    }

    @Test func `a number that cannot be written is not given out, and switches still work`() async throws {
        defer { clean() }
        // Nothing can be put in its place.
        try FileManager.default.createDirectory(atPath: "\(path)/x", withIntermediateDirectories: true)
        let service = try self.service(ConnectionNumbers(folder: folder), cameras: ["door"])
        let fault = await #expect(throws: TransportFault.self) { try await allocate(on: "door", of: service) }
        #expect(fault?.kind == .notKept)
        #expect(fault?.words.contains(ConnectionNumbers.fileName) == true)
        #expect(service.table(of: "door")?.connections.map(\.id) == [1])
        try await service.change("door") { table, _, _ throws(TransportFault) in
            try table.setStatus(nil, .inactive, for: Fixture.me)
        }
        #expect(service.table(of: "door")?.isOn == false)
    }

    @Test func `a camera of which only the number is known gives out none that was given out before`() async throws {
        defer { clean() }
        let numbers = ConnectionNumbers(folder: folder)
        try numbers.keep(7, of: "door")
        let service = try self.service(numbers, cameras: ["door", "yard"])
        let door = try await allocate(on: "door", of: service)
        let yard = try await allocate(on: "yard", of: service)
        #expect(door == 7 && yard == 2)
        let later = ConnectionNumbers(folder: folder)
        #expect(later.next(of: "door") == 8 && later.next(of: "yard") == 3)
        // An upload may go to an earlier address, so its sessions have higher numbers than any there.
        #expect(service.nextSessionNumber(on: 7, of: "door") == UInt64(Fixture.now) / 1_000 + 1)
        #expect(service.nextSessionNumber(on: 2, of: "yard") == 1)
    }
}

import Foundation
import HomeTypes
import Testing

@testable import PushAvStreamTransport

/// The specification's own tests of the other commands: TC-PAVST 2.4 to 2.9, 2.14 and 2.15.
@Suite("Commands of a recording connection")
struct ConnectionCommandTests {
    /// A camera with a connection of this principal, number 2, and one of another, number 3.
    private func table(_ type: TransportTriggerType = .motion) throws -> ConnectionTable {
        var table = Fixture.table
        _ = try table.allocate(Fixture.options(type), for: Fixture.me, of: Fixture.camera, at: 0)
        _ = try table.allocate(Fixture.options(), for: Fixture.other, of: Fixture.camera, at: 0)
        return table
    }

    private func partial(_ json: String) throws -> PartialTransportOptions {
        try JSONDecoder().decode(PartialTransportOptions.self, from: Data(json.utf8))
    }

    @Test("An unknown connection and one of another principal are not found (2.4 to 2.8, 2.15)")
    func foreignConnections() throws {
        let table = try table()
        for id: UInt16 in [3, 9] {
            expectFault(.notFound, table) { try $0.deallocate(id, for: Fixture.me) }
            expectFault(.notFound, table) {
                try $0.modify(id, PartialTransportOptions(), for: Fixture.me, of: Fixture.camera, at: 0)
            }
            expectFault(.notFound, table) { try $0.setStatus(id, .active, for: Fixture.me) }
            expectFault(.notFound, table) { _ = try $0.checkManualTrigger(id, nil, for: Fixture.me) }
            expectFault(.notFound, table) { _ = try $0.find(id, for: Fixture.me) }
            expectFault(.notFound, table) {
                try $0.updateZones(id, zones: .some([]), sensitivity: nil, for: Fixture.me, of: Fixture.camera)
            }
        }
    }

    /// All options of a connection, as a client that has read them sends them back.
    private func read(_ id: UInt16, of table: ConnectionTable) throws -> PartialTransportOptions {
        let found = try table.find(id, for: Fixture.me)[0].transportOptions
        return try JSONDecoder().decode(PartialTransportOptions.self, from: JSONEncoder().encode(found))
    }

    @Test("What was read may be sent back with another expiry, and with empty lists (2.4)")
    func modifyExpiry() throws {
        var table = try table()
        let before = try #require(table.connection(2)?.options)
        for (expiry, keepsLists) in [(120, true), (240, false)] as [(UInt32, Bool)] {
            var options = try read(2, of: table)
            options.expiryTime = expiry
            if !keepsLists { (options.videoStreams, options.audioStreams) = ([], []) }
            try table.modify(2, options, for: Fixture.me, of: Fixture.camera, at: Fixture.now)
            var after = try #require(table.find(2, for: Fixture.me)[0].transportOptions)
            #expect(after.expiryTime == expiry)
            #expect(table.nextExpiry == Fixture.now + Int64(expiry) * 1_000)
            after.expiryTime = nil
            #expect(after == before)
        }
        try table.modify(
            2, PartialTransportOptions(videoStreams: [], audioStreams: []), for: Fixture.me, of: Fixture.camera, at: 0)
        #expect(table.connection(2)?.options.videoStreams == before.videoStreams)
    }

    @Test("Of what was sent back, the form of the streams that changed counts; two that differ are refused")
    func modifyOneForm() throws {
        var table = try table()
        var options = try read(2, of: table)
        options.videoStreamID = .some(2)
        try table.modify(2, options, for: Fixture.me, of: Fixture.camera, at: 0)
        #expect(table.connection(2)?.options.videoStreams?.map(\.videoStreamID) == [2])
        options = try read(2, of: table)
        options.audioStreams = []
        try table.modify(2, options, for: Fixture.me, of: Fixture.camera, at: 0)
        #expect(table.connection(2)?.options.audioStreamID == nil)
        #expect(table.connection(2)?.options.audioStreams == nil)
        #expect(table.connection(2)?.options.videoStreamID == .some(2))
        options = try read(2, of: table)
        options.videoStreamID = .some(1)
        options.videoStreams?[0].videoStreamName = "main"
        expectFault(.invalidCommand, table) {
            try $0.modify(2, options, for: Fixture.me, of: Fixture.camera, at: 0)
        }
    }

    @Test("A lifetime needs a clock that is set")
    func unsetClock() throws {
        var options = Fixture.options()
        options.expiryTime = 5
        for wall in [0, 1_577_836_799_999] as [Int64] {
            expectFault(.invalidTime) {
                _ = try $0.allocate(options, for: Fixture.me, of: Fixture.camera, at: wall)
            }
            expectFault(.invalidTime, try table()) {
                try $0.modify(2, try partial(#"{"expiryTime":5}"#), for: Fixture.me, of: Fixture.camera, at: wall)
            }
        }
        var table = try table()
        // Without a lifetime nothing needs the time of day.
        try table.modify(2, try partial(#"{"tlsEndpointID":1}"#), for: Fixture.me, of: Fixture.camera, at: 0)
        try table.modify(
            2, try partial(#"{"expiryTime":5}"#), for: Fixture.me, of: Fixture.camera, at: 1_577_836_800_000)
    }

    @Test("Only what a modification names changes, as the settings of Google's app send it")
    func mergesPartialOptions() throws {
        var table = try table()
        let before = try #require(table.connection(2)?.options)
        try table.modify(
            2, try partial(#"{"triggerOptions":{"triggerType":"motion","motionSensitivity":10}}"#), for: Fixture.me,
            of: Fixture.camera, at: 0)
        var after = try #require(table.connection(2)?.options)
        #expect(after.triggerOptions.motionSensitivity == .some(10))
        after.triggerOptions.motionSensitivity = before.triggerOptions.motionSensitivity
        #expect(after == before)
        try table.modify(
            2, try partial(#"{"triggerOptions":{"motionTimeControl":{"maxDuration":180}}}"#), for: Fixture.me,
            of: Fixture.camera, at: 0)
        #expect(table.connection(2)?.options.triggerOptions.motionTimeControl?.maxDuration == 180)
        #expect(table.connection(2)?.options.triggerOptions.motionTimeControl?.initialDuration == 10)
        try table.modify(2, try partial(#"{"videoStreamID":2}"#), for: Fixture.me, of: Fixture.camera, at: 0)
        #expect(table.connection(2)?.options.videoStreams?.map(\.videoStreamID) == [2])
        #expect(table.connection(2)?.options.audioStreamID == .some(1))
        try table.modify(
            2, try partial(#"{"triggerOptions":{"triggerType":"continuous"}}"#), for: Fixture.me, of: Fixture.camera,
            at: 0)
        #expect(table.connection(2)?.options.triggerOptions == Fixture.trigger(.continuous))
        expectFault(.invalidCommand, table) {
            try $0.modify(
                2, try partial(#"{"triggerOptions":{"triggerType":"motion"}}"#), for: Fixture.me, of: Fixture.camera,
                at: 0)
        }
        expectFault(.invalidCommand, table) {
            try $0.modify(
                2, try partial(#"{"videoStreamID":1,"videoStreams":[{"videoStreamName":"a","videoStreamID":1}]}"#),
                for: Fixture.me, of: Fixture.camera, at: 0)
        }
        expectFault(.invalidURL, table) {
            try $0.modify(
                2, PartialTransportOptions(url: "https://h.example/a"), for: Fixture.me, of: Fixture.camera, at: 0)
        }
    }

    @Test("Times that a modification does not change are not judged by an interval that was measured later")
    func modifyAfterMeasuring() throws {
        var table = Fixture.table
        let made = try table.allocate(Fixture.options(), for: Fixture.me, of: Fixture.camera, at: 0)
        table.setKeyFrameInterval(3_000, of: 1)
        try table.modify(
            made.id, try partial(#"{"triggerOptions":{"motionSensitivity":2}}"#), for: Fixture.me, of: Fixture.camera,
            at: 0)
        expectFault(.invalidOptions, table) { table in
            try table.modify(
                made.id,
                try partial(#"{"containerOptions":{"cmafContainerOptions":{"segmentDuration":5000}}}"#),
                for: Fixture.me, of: Fixture.camera, at: 0)
        }
        try table.modify(
            made.id, try partial(#"{"containerOptions":{"cmafContainerOptions":{"segmentDuration":6000}}}"#),
            for: Fixture.me, of: Fixture.camera, at: 0)
    }

    @Test("A connection that is deallocated is gone (2.5), except the camera's own")
    func deallocate() throws {
        var table = try table()
        try table.deallocate(2, for: Fixture.me)
        #expect(table.connections.map(\.id) == [1, 3])
        expectFault(.permanentConnection, table) { try $0.deallocate(1, for: Fixture.me) }
        for options in [
            PartialTransportOptions(tlsEndpointID: 1), PartialTransportOptions(expiryTime: 5),
            PartialTransportOptions(streamUsage: .analysis),
        ] {
            expectFault(.permanentConnection, table) {
                try $0.modify(1, options, for: Fixture.me, of: Fixture.camera, at: 0)
            }
        }
    }

    @Test("The camera's own connection can be changed by everybody, also before the camera has described itself")
    func modifyOwnConnection() throws {
        var table = ConnectionTable()
        try table.modify(
            1, try partial(#"{"triggerOptions":{"motionSensitivity":1}}"#), for: Fixture.other, of: Fixture.camera,
            at: 0)
        #expect(table.connection(1)?.options.triggerOptions.motionSensitivity == .some(1))
        // A wish of the config that is not new does not undo it. A new one does.
        table.configure(OwnConnection())
        #expect(table.connection(1)?.options.triggerOptions.motionSensitivity == .some(1))
        table.configure(OwnConnection(trigger: .continuous))
        #expect(table.connection(1)?.options.triggerOptions.triggerType == .continuous)
    }

    @Test("The privacy of recordings refuses to switch on; without it nothing does (2.6)")
    func status() throws {
        var table = try table(.continuous)
        try table.setStatus(nil, .inactive, for: Fixture.me)
        #expect(!table.isOn)
        table.setPrivacy(softRecording: true)
        expectFault(.invalidInState, table) { try $0.setStatus(2, .active, for: Fixture.me) }
        expectFault(.invalidInState, table) { try $0.setStatus(nil, .active, for: Fixture.me) }
        table.setPrivacy(softRecording: false)
        try table.setStatus(nil, .active, for: Fixture.me)
        #expect(table.connections.map(\.status) == [.active, .active, .inactive])
        try table.modify(
            2, PartialTransportOptions(expiryTime: 60), for: Fixture.me, of: Fixture.camera, at: Fixture.now)
        try table.setStatus(2, .inactive, for: Fixture.me)
        #expect(table.connections.map(\.status) == [.active, .inactive, .inactive])
        table.setPrivacy(hard: true)
        expectFault(.invalidInState, table) { try $0.setStatus(2, .active, for: Fixture.me) }
        table.setPrivacy(softLivestream: true, hard: false)
        #expect(throws: Never.self) { try table.setStatus(2, .active, for: Fixture.me) }
    }

    @Test("Off is off for everybody, and on brings back what was on before")
    func offForEverybody() throws {
        var table = try table()
        try table.setStatus(3, .active, for: Fixture.other)
        try table.setStatus(nil, .inactive, for: Fixture.me)
        #expect(!table.isOn)
        try table.setStatus(nil, .active, for: Fixture.me)
        #expect(table.connection(3)?.status == .active)
        // One that its owner had switched off stays off.
        try table.setStatus(3, .inactive, for: Fixture.other)
        try table.setStatus(nil, .inactive, for: Fixture.me)
        try table.setStatus(nil, .active, for: Fixture.me)
        #expect(table.connection(3)?.status == .inactive)
    }

    @Test("A manual trigger and its refusals (2.7)")
    func manualTrigger() throws {
        var table = try table()
        expectFault(.invalidTransportStatus, table) { _ = try $0.checkManualTrigger(2, nil, for: Fixture.me) }
        try table.setStatus(2, .active, for: Fixture.me)
        #expect(try table.checkManualTrigger(2, nil, for: Fixture.me) == Fixture.time)
        var time = Fixture.time
        time.initialDuration = 20
        #expect(try table.checkManualTrigger(2, time, for: Fixture.me) == time)
        time.initialDuration = 0
        // This is found before the connection.
        expectFault(.constraintError, table) { _ = try $0.checkManualTrigger(9, time, for: Fixture.me) }
        table.setPrivacy(softRecording: true)
        expectFault(.invalidInState, table) { _ = try $0.checkManualTrigger(2, nil, for: Fixture.me) }
        table.setPrivacy(softRecording: false)
        #expect(throws: Never.self) { _ = try table.checkManualTrigger(2, nil, for: Fixture.me) }

        var continuous = try self.table(.continuous)
        expectFault(.invalidTransportStatus, continuous) { _ = try $0.checkManualTrigger(2, nil, for: Fixture.me) }
        try continuous.setStatus(2, .active, for: Fixture.me)
        expectFault(.invalidTriggerType, continuous) { _ = try $0.checkManualTrigger(2, nil, for: Fixture.me) }
        var command = try self.table(.command)
        try command.setStatus(2, .active, for: Fixture.me)
        expectFault(.dynamicConstraintError, command) { _ = try $0.checkManualTrigger(2, nil, for: Fixture.me) }
        #expect(try command.checkManualTrigger(2, Fixture.time, for: Fixture.me) == Fixture.time)
    }

    @Test("Finding one's own connections, with their options (2.2, 2.8)")
    func find() throws {
        let table = try table()
        #expect(try table.find(nil, for: Fixture.me).map(\.connectionID) == [1, 2])
        #expect(try table.find(nil, for: "stranger").map(\.connectionID) == [1])
        let found = try table.find(2, for: Fixture.me)
        #expect(found.count == 1)
        #expect(found[0].transportOptions?.url == "https://ingest.example/in/")
        #expect(table.connection(2)?.configuration(withOptions: false).transportOptions == nil)
    }

    @Test("The owner of the home finds and deallocates everybody's connections, and does not change or use them")
    func connectionsForTheOwner() throws {
        var table = try table()
        #expect(try table.find(nil, for: "owner", seesAll: true).map(\.connectionID) == [1, 2, 3])
        #expect(try table.find(3, for: "owner", seesAll: true).first?.transportOptions?.url != nil)
        expectFault(.notFound, table) { try $0.setStatus(3, .active, for: "owner") }
        // Switching the camera on does not switch on what others have left off.
        try table.setStatus(nil, .active, for: "owner")
        #expect(table.connection(3)?.status == .inactive)
        try table.deallocate(3, for: "owner", seesAll: true)
        #expect(table.connections.map(\.id) == [1, 2])
        expectFault(.permanentConnection, table) { try $0.deallocate(1, for: "owner", seesAll: true) }
    }

    @Test("A connection ends when its time is over (2.9)")
    func expiry() throws {
        var table = Fixture.table
        var options = Fixture.options()
        options.expiryTime = 5
        let made = try table.allocate(options, for: Fixture.me, of: Fixture.camera, at: Fixture.now)
        #expect(made.status == .inactive)
        for second in 0..<5 {
            #expect(table.expire(at: Fixture.now + Int64(second) * 1_000).isEmpty)
            #expect(table.connections.count == 2)
        }
        #expect(table.expire(at: Fixture.now + 5_000).map(\.id) == [made.id])
        #expect(table.connections.map(\.id) == [1])
        #expect(table.nextExpiry == nil)
    }

    @Test("Connections survive as they are (2.14)")
    func survives() throws {
        var table = try table()
        try table.setStatus(2, .active, for: Fixture.me)
        table.setPrivacy(softLivestream: true)
        _ = table.takeSessionNumber(of: "3/phone")
        let read = try JSONDecoder().decode(ConnectionTable.self, from: JSONEncoder().encode(table))
        #expect(read == table)
        #expect(table.connections.allSatisfy { $0.id != 0 })
    }

    @Test("Zones are changed without the rest (2.15)")
    func zones() throws {
        var table = try table()
        func update(
            _ table: inout ConnectionTable, _ zones: [TransportZone]?, _ sensitivity: UInt8?? = nil,
            _ camera: CameraCapabilities = Fixture.camera
        ) throws {
            try table.updateZones(2, zones: .some(zones), sensitivity: sensitivity, for: Fixture.me, of: camera)
        }
        func zones(_ list: [UInt16?]) -> [TransportZone] { list.map { TransportZone(zone: $0) } }
        expectFault(.alreadyExists, table) { try update(&$0, zones([1, 1])) }
        expectFault(.dynamicConstraintError, table) { try update(&$0, zones([1, 2, 3, 4])) }
        expectFault(.invalidZone, table) { try update(&$0, zones([8])) }
        expectFault(.constraintError, table) { try update(&$0, [], .some(11)) }
        try update(&table, [])
        #expect(table.connection(2)?.options.triggerOptions.motionZones == .some([]))
        try update(&table, zones([1, 2]), .some(7))
        #expect(table.connection(2)?.options.triggerOptions.motionZones == .some(zones([1, 2])))
        #expect(table.connection(2)?.options.triggerOptions.motionSensitivity == .some(7))
        var camera = Fixture.camera
        camera.hasZoneSensitivity = true
        expectFault(.invalidCommand, table) {
            try update(&$0, [TransportZone(zone: 1, sensitivity: 3)], .some(5), camera)
        }
    }

    @Test("No two session groups of a camera get one number")
    func sessionNumbers() throws {
        var table = try table()
        #expect(table.takeSessionNumber(of: "3/phone") == 1)
        #expect(table.takeSessionNumber(of: "1/") == 2)
        #expect(table.takeSessionNumber(of: "3/phone") == 3)
        #expect(table.takeSessionNumber(of: "3/tablet") == 4)
    }
}

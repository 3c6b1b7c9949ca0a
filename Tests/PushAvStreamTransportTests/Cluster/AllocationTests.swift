import Foundation
import HomeTypes
import PushAvStreamTransport
import Testing

/// The specification's own tests of `allocatePushTransport`: TC-PAVST 2.3, 2.10 and 2.11.
@Suite("Allocating a recording connection")
struct AllocationTests {
    @Test("A new connection is inactive, and its number follows the camera's own (2.3, steps 6 and 7)")
    func beginsInactive() throws {
        var table = Fixture.table
        #expect(table.connections.map(\.id) == [1])
        let made = try table.allocate(Fixture.options(), for: Fixture.me, of: Fixture.camera, at: 0)
        #expect(made.id == 2)
        #expect(made.status == .inactive)
        #expect(table.connections.last == made)
    }

    @Test("A camera that has not described itself has no stream to choose (2.3, step 3)")
    func nothingAllocated() {
        for keepsVideo in [true, false] {
            expectFault(.invalidInState, ConnectionTable()) { table in
                var options = Fixture.options()
                options.videoStreamID = keepsVideo ? .some(nil) : nil
                options.audioStreamID = keepsVideo ? nil : .some(nil)
                _ = try table.allocate(options, for: Fixture.me, of: Fixture.camera, at: 0)
            }
        }
    }

    @Test("Endpoint, address and enumerations (2.3, steps 11 to 14 and 31; 2.10)")
    func endpointAndAddress() {
        expectRefusal(.constraintError) { $0.ingestMethod = .unrecognized_ }
        expectRefusal(.constraintError) { $0.streamUsage = .unrecognized_ }
        expectRefusal(.constraintError) { $0.triggerOptions.triggerType = .unrecognized_ }
        expectRefusal(.constraintError) { $0.containerOptions.containerType = .unrecognized_ }
        expectRefusal(.constraintError) {
            $0.containerOptions.cmafContainerOptions?.cmafInterface = .unrecognized_
        }
        expectRefusal(.invalidTLSEndpoint) { $0.tlsEndpointID = 2 }
        expectRefusal(.constraintError) { $0.tlsEndpointID = 65_535 }
        for url in [
            "https:/ingest.example/", "http://ingest.example/", "https://ingest.example/#f/", "https://h.example/?a=b/",
            "https://ingest.example", "https://ingest.example/a", "https:///ingest/abc/", "https://:443/abcdefg/",
            "https://user@h.example/", "https://h.example:0/a/", "https://h.example:x/a/", "https://h.example/%zz/",
            "https://h.example/a b/", "https://h.example/../", "https://[::1/abcdef/", "https://h.example/ü/",
        ] { expectRefusal(.invalidURL) { $0.url = url } }
        expectRefusal(.constraintError) { $0.url = "https://a.b/" }
        expectRefusal(.constraintError) { $0.url = "https://h.example/" + String(repeating: "a", count: 1_990) + "/" }
        for url in ["HTTPS://h.example/", "https://[2001:db8::1]:8443/a%20b/", "https://h.example:65535//"] {
            var table = Fixture.table
            var options = Fixture.options()
            options.url = url
            #expect(throws: Never.self) {
                _ = try table.allocate(options, for: Fixture.me, of: Fixture.camera, at: 0)
            }
        }
    }

    @Test("Zones (2.3, steps 15 to 18, 23, 29 and 30)")
    func zones() throws {
        func zones(_ list: [UInt16?]) -> [TransportZone] { list.map { TransportZone(zone: $0) } }
        for good: [TransportZone]? in [nil, [], zones([nil]), zones([1, 2, nil])] {
            var table = Fixture.table
            var options = Fixture.options()
            options.triggerOptions.motionZones = .some(good)
            #expect(throws: Never.self) {
                _ = try table.allocate(options, for: Fixture.me, of: Fixture.camera, at: 0)
            }
        }
        expectRefusal(.alreadyExists) { $0.triggerOptions.motionZones = .some(zones([1, 1])) }
        expectRefusal(.alreadyExists) { $0.triggerOptions.motionZones = .some(zones([nil, nil])) }
        expectRefusal(.invalidZone) { $0.triggerOptions.motionZones = .some(zones([9])) }
        expectRefusal(.dynamicConstraintError) { $0.triggerOptions.motionZones = .some(zones([1, 2, 3, 4])) }
    }

    @Test("Streams that do not exist, none, and ones to choose (2.3, steps 19 to 22)")
    func streams() throws {
        expectRefusal(.invalidStream) { $0.videoStreamID = .some(7) }
        expectRefusal(.invalidStream) { $0.audioStreamID = .some(7) }
        // This is found before the endpoint and the address, which are bad too.
        expectRefusal(.invalidCommand) { options in
            (options.videoStreamID, options.audioStreamID) = (nil, nil)
            options.tlsEndpointID = 9
            options.url = "https://no-end.example/a"
        }
        var table = Fixture.table
        var options = Fixture.options()
        (options.videoStreamID, options.audioStreamID) = (.some(nil), .some(nil))
        let made = try table.allocate(options, for: Fixture.me, of: Fixture.camera, at: 0)
        #expect(made.options.videoStreamID == .some(1))
        #expect(made.options.audioStreamID == .some(1))
        #expect(made.options.videoStreams?.map(\.videoStreamName) == ["video"])
        #expect(made.options.audioStreams?.map(\.audioStreamName) == ["audio"])
        #expect(table.videoReferences(1) == 2)
        options.streamUsage = .analysis
        options.audioStreamID = nil
        let analysis = try table.allocate(options, for: Fixture.me, of: Fixture.camera, at: 0)
        #expect(analysis.options.videoStreamID == .some(2))
        #expect(analysis.options.audioStreams == nil)
    }

    @Test("Sensitivity with and without the feature for each zone (2.3, steps 24 and 25)")
    func sensitivity() throws {
        expectRefusal(.constraintError) { $0.triggerOptions.motionSensitivity = .some(11) }
        expectRefusal(.invalidCommand) { $0.triggerOptions.motionSensitivity = nil }
        expectRefusal(.invalidCommand) {
            $0.triggerOptions.motionZones = .some([TransportZone(zone: 1, sensitivity: 5)])
        }
        var camera = Fixture.camera
        camera.hasZoneSensitivity = true
        expectRefusal(.invalidCommand, of: camera) { $0.triggerOptions.motionSensitivity = .some(5) }
        expectRefusal(.invalidCommand, of: camera) {
            $0.triggerOptions.motionSensitivity = nil
            $0.triggerOptions.motionZones = .some([TransportZone(zone: 1)])
        }
        var table = Fixture.table
        var options = Fixture.options()
        options.triggerOptions.motionSensitivity = nil
        options.triggerOptions.motionZones = .some([TransportZone(zone: 1, sensitivity: 5)])
        #expect(throws: Never.self) { _ = try table.allocate(options, for: Fixture.me, of: camera, at: 0) }
    }

    @Test("Which fields belong to which trigger, and durations (2.3, steps 26 to 28)")
    func triggerFields() {
        expectRefusal(.invalidCommand) { $0.triggerOptions.motionTimeControl = nil }
        expectRefusal(.invalidCommand) { $0.triggerOptions.motionZones = nil }
        expectRefusal(.invalidCommand) { $0.triggerOptions.maxPreRollLen = nil }
        expectRefusal(.constraintError) { $0.triggerOptions.motionTimeControl?.initialDuration = 0 }
        expectRefusal(.constraintError) { $0.triggerOptions.motionTimeControl?.maxDuration = 0 }
        for type in [TransportTriggerType.command, .continuous] {
            expectRefusal(.invalidCommand, Fixture.options(type)) { $0.triggerOptions.motionZones = .some(nil) }
            expectRefusal(.invalidCommand, Fixture.options(type)) { $0.triggerOptions.motionSensitivity = .some(1) }
            expectRefusal(.invalidCommand, Fixture.options(type)) {
                $0.triggerOptions.motionTimeControl = Fixture.time
            }
        }
        expectRefusal(.invalidCommand, Fixture.options(.continuous)) { $0.triggerOptions.maxPreRollLen = 0 }
        expectRefusal(.invalidCommand, Fixture.options(.command)) { $0.triggerOptions.maxPreRollLen = nil }
    }

    @Test("The container's options (2.3, steps 32 and 33)")
    func container() {
        typealias Options = TransportOptions
        func cmaf(_ change: @escaping (inout Push.CMAFContainerOptionsStruct) -> Void) -> (inout Options) -> Void {
            { options in
                var cmaf =
                    options.containerOptions.cmafContainerOptions
                    ?? .init(cmafInterface: .interface1, segmentDuration: 4_000, chunkDuration: 0)
                change(&cmaf)
                options.containerOptions.cmafContainerOptions = cmaf
            }
        }
        expectRefusal(.invalidCommand) { $0.containerOptions.cmafContainerOptions = nil }
        expectRefusal(.invalidOptions, change: cmaf { $0.segmentDuration = 6_000 })
        expectRefusal(.constraintError, change: cmaf { $0.segmentDuration = 499 })
        expectRefusal(.constraintError, change: cmaf { $0.segmentDuration = 65_501 })
        expectRefusal(.constraintError, change: cmaf { $0.chunkDuration = 2_001 })
        expectRefusal(.constraintError, change: cmaf { $0.trackName = "" })
        expectRefusal(.constraintError, change: cmaf { $0.trackName = "seventeen letters" })
        expectRefusal(.constraintError, change: cmaf { $0.cencKey = .init(count: 15) })
        expectRefusal(.invalidCommand, change: cmaf { $0.cencKey = .init(count: 16) })
        expectRefusal(.invalidCommand, change: cmaf { $0.cencKeyID = .init(count: 16) })
        expectRefusal(.invalidCommand, change: cmaf { $0.metadataEnabled = true })
    }

    @Test("A usage that the camera's priorities do not contain (2.3, step 34)")
    func usage() throws {
        expectRefusal(.invalidStreamUsage) { $0.streamUsage = .internal }
        var table = Fixture.table
        try table.setPriorities([.liveView])
        expectFault(.invalidStreamUsage, table) { table in
            _ = try table.allocate(Fixture.options(), for: Fixture.me, of: Fixture.camera, at: 0)
        }
        expectFault(.alreadyExists, table) { try $0.setPriorities([.liveView, .liveView]) }
        expectFault(.dynamicConstraintError, table) { try $0.setPriorities([.internal]) }
    }

    @Test("Both forms of the streams: lists are filled from ids and ids from lists (2.11)")
    func lists() throws {
        var table = Fixture.table
        let made = try table.allocate(Fixture.lists, for: Fixture.me, of: Fixture.camera, at: 0)
        #expect(made.options.videoStreamID == .some(1))
        #expect(made.options.audioStreamID == .some(1))
        expectRefusal(.invalidCommand, Fixture.lists) { $0.videoStreamID = .some(1) }
        expectRefusal(.invalidCommand, Fixture.lists) { $0.audioStreamID = .some(nil) }
        expectRefusal(.invalidStream, Fixture.lists) { $0.videoStreams?[0].videoStreamID = 9 }
        expectRefusal(.invalidStream, Fixture.lists) { $0.audioStreams?[0].audioStreamName = "main" }
        expectRefusal(.invalidStream, Fixture.lists) { $0.audioStreams?[0].audioStreamName = "Main" }
        // One picture is recorded for each connection.
        expectRefusal(.resourceExhausted, Fixture.lists) {
            $0.videoStreams?.append(.init(videoStreamName: "small", videoStreamID: 2))
        }
        expectRefusal(.invalidStream, Fixture.lists) { ($0.videoStreams, $0.audioStreams) = ([], []) }
        expectRefusal(.duplicateStreamValues, Fixture.lists) {
            $0.videoStreams?.append(.init(videoStreamName: "main", videoStreamID: 2))
        }
        expectRefusal(.duplicateStreamValues, Fixture.lists) {
            $0.videoStreams?.append(.init(videoStreamName: "x", videoStreamID: 1))
        }
        for name in ["", "seventeen letters", "../../etc/passwd", "a/b", ".hidden", "naïve"] {
            expectRefusal(.constraintError, Fixture.lists) { $0.videoStreams?[0].videoStreamName = name }
        }
    }

    @Test("A pre-roll that is shorter than the time between key frames (2.11)")
    func preRoll() throws {
        expectRefusal(.invalidPreRollLength) { $0.triggerOptions.maxPreRollLen = 3_999 }
        // A camera without a steady interval is not refused.
        var table = Fixture.table
        var options = Fixture.options()
        options.videoStreamID = .some(2)
        options.triggerOptions.maxPreRollLen = 1
        options.containerOptions.cmafContainerOptions?.segmentDuration = 5_999
        #expect(throws: Never.self) { _ = try table.allocate(options, for: Fixture.me, of: Fixture.camera, at: 0) }
    }

    @Test("A container that the camera does not send by this method (2.3, step 12)")
    func combination() {
        var camera = Fixture.camera
        camera.formats = []
        expectRefusal(.invalidCombination, of: camera) { _ in }
    }

    @Test("Of several things that are wrong, the first in the reference server's order is reported")
    func order() throws {
        var camera = Fixture.camera
        camera.formats = []
        var table = Fixture.table
        try table.setPriorities([.liveView])
        var options = Fixture.options()
        options.containerOptions.cmafContainerOptions?.segmentDuration = 499
        options.triggerOptions.motionTimeControl = nil
        options.tlsEndpointID = 9
        options.url = "https:/ingest.example/"
        options.triggerOptions.motionZones = .some([TransportZone(zone: 9), TransportZone(zone: 9)])
        options.videoStreamID = .some(9)
        // Each fault is mended after it was found, and the next one shows.
        func next(_ kind: TransportFault.Kind, location: SourceLocation = #_sourceLocation, _ mend: () -> Void) {
            expectFault(kind, table, location: location) {
                _ = try $0.allocate(options, for: Fixture.me, of: camera, at: 0)
            }
            mend()
        }
        next(.constraintError) { options.containerOptions.cmafContainerOptions?.segmentDuration = 6_000 }
        next(.invalidCommand) { options.triggerOptions.motionTimeControl = Fixture.time }
        next(.invalidTLSEndpoint) { options.tlsEndpointID = 1 }
        next(.invalidCombination) { camera.formats = Fixture.camera.formats }
        next(.invalidURL) { options.url = "https://ingest.example/" }
        next(.invalidStreamUsage) { table = Fixture.table }
        next(.alreadyExists) {
            options.triggerOptions.motionZones = .some([1, 2, 3, 9].map { TransportZone(zone: $0) })
        }
        next(.dynamicConstraintError) { options.triggerOptions.motionZones = .some([TransportZone(zone: 9)]) }
        next(.invalidZone) { options.triggerOptions.motionZones = .some([]) }
        next(.invalidStream) { options.videoStreamID = .some(1) }
        next(.invalidOptions) { options.containerOptions.cmafContainerOptions?.segmentDuration = 4_000 }
        camera.maximumConnections = 1
        options.triggerOptions.maxPreRollLen = 1
        next(.resourceExhausted) { camera.maximumConnections = 2 }
        next(.invalidPreRollLength) { options.triggerOptions.maxPreRollLen = 0 }
        #expect(throws: Never.self) { _ = try table.allocate(options, for: Fixture.me, of: camera, at: 0) }
    }

    @Test("Numbers count up, are skipped while they are used, and wrap to 1")
    func numbers() throws {
        var table = Fixture.table
        var numbers: Set<UInt16> = []
        var last: UInt16 = 1
        for round in 0..<65_540 {
            let made = try table.allocate(Fixture.options(), for: Fixture.me, of: Fixture.camera, at: 0)
            if round < 65_533 { #expect(made.id == last + 1) }
            #expect((2...65_534).contains(made.id))
            numbers.insert(made.id)
            last = made.id
            try table.deallocate(made.id, for: Fixture.me)
        }
        #expect(numbers.count == 65_533)
        for _ in 1..<Fixture.camera.maximumConnections {
            _ = try table.allocate(Fixture.options(), for: Fixture.me, of: Fixture.camera, at: 0)
        }
        expectFault(.resourceExhausted, table) { table in
            _ = try table.allocate(Fixture.options(), for: Fixture.me, of: Fixture.camera, at: 0)
        }
    }
}

import HomeTypes
import PushAvStreamTransport
import Testing

/// What clients read when a command of the cluster is refused, and the statuses beside it.
struct TransportFaultTests {
    static let faults: [(fault: TransportFault, words: String)] = [
        (.constraint(.invalidArgument("url is too short")), "url is too short"),
        (
            .chunkTooLong(3_000),
            """
            transportOptions.containerOptions.cmafContainerOptions.chunkDuration is 3000; \
            it must be at most half of segmentDuration
            """
        ),
        (.noZones, "transportOptions.triggerOptions.motionZones is missing; null means anywhere"),
        (.noTimeControl, "transportOptions.triggerOptions.motionTimeControl is missing"),
        (.incompleteTimeControl, "transportOptions.triggerOptions.motionTimeControl is new and must be complete"),
        (
            .noSensitivity,
            "transportOptions.triggerOptions.motionSensitivity is missing; null means the camera's own"
        ),
        (
            .sensitivityForAllZones(.options),
            "transportOptions.triggerOptions.motionSensitivity: this camera has a sensitivity for each zone"
        ),
        (.sensitivityForAllZones(.update), "motionSensitivity: this camera has a sensitivity for each zone"),
        (
            .fieldsForMotion(.command),
            "transportOptions.triggerOptions has fields for motion, but its triggerType is command"
        ),
        (
            .preRollOfContinuous,
            "transportOptions.triggerOptions.maxPreRollLen: a continuous recording has no pre-roll"
        ),
        (.noPreRoll, "transportOptions.triggerOptions.maxPreRollLen is missing"),
        (
            .preRollTooShort(9, keyFrameInterval: 4_000),
            """
            transportOptions.triggerOptions.maxPreRollLen is 9 ms; it must be 0, or at least 4000 ms, \
            the time between the camera's key frames
            """
        ),
        (
            .zoneWithoutSensitivity(1, .options),
            "transportOptions.triggerOptions.motionZones[1].sensitivity is missing"
        ),
        (
            .zoneWithSensitivity(1, .update),
            "motionZones[1].sensitivity: this camera has one sensitivity for all zones"
        ),
        (.repeatedZone(.options), "transportOptions.triggerOptions.motionZones: a zone occurs twice"),
        (.tooManyZones(4, limit: 3, .update), "motionZones has 4 zones; there can be 3"),
        (.unknownZone(9, .update), "motionZones: the camera has no zone 9"),
        (.noContainerOptions, "transportOptions.containerOptions.cmafContainerOptions is missing"),
        (.incompleteKey, "transportOptions.containerOptions: cencKey and cencKeyID go together"),
        (.noMetadata, "transportOptions.containerOptions: metadataEnabled: this camera records no metadata"),
        (.noEncryption, "transportOptions.containerOptions: this gateway does not encrypt recordings (cencKey)"),
        (
            .unevenSegment(6_000, keyFrameInterval: 4_000),
            """
            transportOptions: a segment of 6000 ms does not hold whole groups of pictures; \
            the camera sends a key frame every 4000 ms
            """
        ),
        (.combination, "transportOptions: the container cannot be sent with this ingestMethod"),
        (.unknownEndpoint(2), "transportOptions.tlsEndpointID: no endpoint 2 has been provisioned"),
        (.url(.noFolder), "transportOptions.url cannot be used: its path must end in /"),
        (
            .url(.character(" ")),
            #"transportOptions.url cannot be used: it contains " ", which must be percent-encoded"#
        ),
        (.bothStreamForms, "transportOptions has stream ids and lists of streams; use one form"),
        (.noStreams, "transportOptions names no streams; use videoStreams and audioStreams"),
        (.emptyStreamLists, "transportOptions names no streams: both lists are empty"),
        (.repeatedStream, "transportOptions: a stream or its name occurs twice"),
        (.sameStreamNames, "transportOptions: a picture and a sound have the same name"),
        (
            .streamName(".x"),
            """
            transportOptions: the stream name ".x" may hold letters, digits, - _ and . only, \
            and must not begin with a dot
            """
        ),
        (
            .severalStreams,
            """
            transportOptions names several pictures or sounds; a connection records one of each, so allocate a \
            connection for each
            """
        ),
        (.unknownVideoStream(7), "transportOptions: the camera has no video stream 7"),
        (.unknownAudioStream(7), "transportOptions: the camera has no audio stream 7"),
        (
            .noVideoStreamYet,
            """
            transportOptions.videoStreamID: no such stream can be chosen yet, because the camera has not described \
            itself
            """
        ),
        (
            .noAudioStreamYet,
            """
            transportOptions.audioStreamID: no such stream can be chosen yet, because the camera has not described \
            itself
            """
        ),
        (
            .usageWithoutPriority(.analysis),
            "transportOptions.streamUsage: the camera's streamUsagePriorities do not contain analysis"
        ),
        (.repeatedUsage, "streamPriorities: a usage occurs twice"),
        (.usageNotOffered(.liveView), "streamPriorities: this camera has no streams for the usage liveView"),
        (.unknownConnection(3), "no connection has the id 3; findTransport lists those that exist"),
        (.tooManyConnections(16), "the camera has 16 connections already; deallocate one first"),
        (
            .ownConnectionIsFixed(1),
            "connection 1 is the camera's own: its usage, its endpoint and its lifetime are fixed; allocate another one"
        ),
        (.ownConnectionStays(1), "connection 1 is the camera's own and stays; setTransportStatus switches it off"),
        (
            .clockNotSet,
            "transportOptions.expiryTime needs the time of day, and the gateway's clock is not set; set it first"
        ),
        (.unknownStatus, "transportStatus is not active or inactive"),
        (.privacyForbidsActivation(2), "connection 2 cannot become active while the camera's privacy mode is on"),
        (.privacyForbidsRecording, "the camera's privacy mode is on; nothing is recorded"),
        (.inactive(2), "connection 2 is inactive; setTransportStatus makes it active"),
        (.recordsAllTheTime(2), "connection 2 records all the time; it needs no trigger"),
        (.noDurations(2), "connection 2 has no durations; the command needs a timeControl"),
        (.noMotionTrigger(2), "connection 2 has no trigger by motion, so it has no zones"),
        (.unknownDevice("attic"), "device attic has no recording connections"),
        (.nothingIsRecorded, "nothing is recorded: the gateway's config has no section recording"),
        (
            .notKept(.storage(path: "shared.sqlite", .database("disk I/O error"))),
            "the change cannot be saved (shared.sqlite: disk I/O error); nothing was changed"
        ),
    ]

    @Test(arguments: faults)
    func `a refusal has its words, Matter's statuses and a code`(fault: TransportFault, words: String) {
        #expect(fault.words == words)
        let error = HomeError(fault)
        #expect(error.message == words && error.code == fault.kind.code)
        guard case .matter(let matter)? = error.subtype else {
            Issue.record("it has no status of Matter")
            return
        }
        #expect((matter.code == 0x01) == (matter.clusterCode != nil) || fault.kind == .notKept)
    }

    @Test func `each of Matter's terms has a refusal`() {
        #expect(Set(Self.faults.map(\.fault.kind)) == Set(TransportFault.Kind.allCases))
        #expect(HomeError(TransportFault.url(.query)).subtype == .matter(.init(code: 1, clusterCode: 4)))
        #expect(HomeError(TransportFault.unknownConnection(1)).subtype == .matter(.init(code: 0x8B)))
        #expect(HomeError(TransportFault.noDurations(1)).code == .outOfRange)
    }

    /// Expects that options are refused when a connection is allocated, and that nothing has changed then.
    private func refuse(
        _ fault: TransportFault, location: SourceLocation = #_sourceLocation, _ change: (inout TransportOptions) -> Void
    ) {
        var options = Fixture.options()
        change(&options)
        var table = Fixture.table
        #expect(throws: fault, sourceLocation: location) {
            _ = try table.allocate(options, for: Fixture.me, of: Fixture.camera, at: 0)
        }
        #expect(table == Fixture.table, sourceLocation: location)
    }

    @Test func `options that cannot be used are refused with what is wrong with them`() {
        refuse(.unknownEndpoint(2)) { $0.tlsEndpointID = 2 }
        refuse(.usageWithoutPriority(.internal)) { $0.streamUsage = .internal }
        refuse(.noZones) { $0.triggerOptions.motionZones = nil }
        refuse(.noTimeControl) { $0.triggerOptions.motionTimeControl = nil }
        refuse(.noSensitivity) { $0.triggerOptions.motionSensitivity = nil }
        refuse(.noPreRoll) { $0.triggerOptions.maxPreRollLen = nil }
        refuse(.preRollTooShort(3_999, keyFrameInterval: 4_000)) { $0.triggerOptions.maxPreRollLen = 3_999 }
        refuse(.zoneWithSensitivity(0, .options)) {
            $0.triggerOptions.motionZones = .some([TransportZone(zone: 1, sensitivity: 5)])
        }
        refuse(.repeatedZone(.options)) {
            $0.triggerOptions.motionZones = .some([TransportZone(zone: 1), TransportZone(zone: 1)])
        }
        refuse(.unknownZone(9, .options)) { $0.triggerOptions.motionZones = .some([TransportZone(zone: 9)]) }
        refuse(.noContainerOptions) { $0.containerOptions.cmafContainerOptions = nil }
        refuse(.chunkTooLong(2_001)) { $0.containerOptions.cmafContainerOptions?.chunkDuration = 2_001 }
        refuse(.unevenSegment(6_000, keyFrameInterval: 4_000)) {
            $0.containerOptions.cmafContainerOptions?.segmentDuration = 6_000
        }
        refuse(.noMetadata) { $0.containerOptions.cmafContainerOptions?.metadataEnabled = true }
        refuse(.unknownVideoStream(7)) { $0.videoStreamID = .some(7) }
        refuse(.unknownAudioStream(7)) { $0.audioStreamID = .some(7) }
        refuse(.noStreams) { ($0.videoStreamID, $0.audioStreamID) = (nil, nil) }
    }

    @Test func `an address that uploads cannot use is refused with what is wrong with it`() {
        refuse(.url(.notHTTPS)) { $0.url = "http://ingest.example/in/" }
        refuse(.url(.noFolder)) { $0.url = "https://ingest.example/in" }
        refuse(.url(.query)) { $0.url = "https://ingest.example/in/?a=b/" }
        refuse(.url(.fragment)) { $0.url = "https://ingest.example/in/#a/" }
        refuse(.url(.userName)) { $0.url = "https://me@ingest.example/in/" }
        refuse(.url(.dots)) { $0.url = "https://ingest.example/in/../" }
        refuse(.url(.percent)) { $0.url = "https://ingest.example/%2/" }
        refuse(.url(.openBracket)) { $0.url = "https://[2001:db8::1/in/" }
        refuse(.url(.host)) { $0.url = "https://[2001:db8::1]x/in/" }
        refuse(.url(.noHost)) { $0.url = "https://:8443/in/folder/" }
        refuse(.url(.port)) { $0.url = "https://ingest.example:0/in/" }
        refuse(.url(.character(" "))) { $0.url = "https://ingest.example/a b/" }
    }
}

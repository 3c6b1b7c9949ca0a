import HomeTypes
import PushAvStreamTransport
import Testing

typealias Push = Google.PushAvStreamTransportTrait

/// What a client of the specification's own tests sends.
enum Fixture {
    static let me = "phone"
    static let other = "tablet"
    /// In November 2023.
    static let now: Int64 = 1_700_000_000_000

    static var camera: CameraCapabilities {
        var camera = CameraCapabilities()
        camera.endpoints = [1]
        camera.zones = [1, 2, 3]
        camera.maximumZones = 3
        return camera
    }

    static let streams = AllocatedStreams(
        video: [
            AllocatedStream(id: 1, usage: .recording, codec: "H264", keyFrameInterval: 4_000),
            AllocatedStream(id: 2, usage: .analysis, codec: "H264"),
        ],
        audio: [AllocatedStream(id: 1, usage: .recording, codec: "OPUS")])

    /// A camera that has described itself.
    static var table: ConnectionTable {
        var table = ConnectionTable()
        table.describe(streams)
        return table
    }

    static let time = TransportTimeControl(
        initialDuration: 10, augmentationDuration: 5, maxDuration: 30, blindDuration: 30)

    static func trigger(_ type: TransportTriggerType = .motion) -> TransportTriggerOptions {
        switch type {
        case .command, .unrecognized_: TransportTriggerOptions(triggerType: .command, maxPreRollLen: 4_000)
        case .motion:
            TransportTriggerOptions(
                triggerType: .motion, motionZones: .some(nil), motionSensitivity: .some(5), motionTimeControl: time,
                maxPreRollLen: 4_000)
        case .continuous: TransportTriggerOptions(triggerType: .continuous)
        }
    }

    static func options(_ type: TransportTriggerType = .motion) -> TransportOptions {
        TransportOptions(
            streamUsage: .recording, videoStreamID: .some(1), audioStreamID: .some(1), tlsEndpointID: 1,
            url: "https://ingest.example/in/", triggerOptions: trigger(type), ingestMethod: .cmafIngest,
            containerOptions: .init(
                containerType: .cmaf,
                cmafContainerOptions: .init(
                    cmafInterface: .interface1, segmentDuration: 4_000, chunkDuration: 1_000, sessionGroup: 3,
                    trackName: "media")))
    }

    static var lists: TransportOptions {
        var options = options()
        (options.videoStreamID, options.audioStreamID) = (nil, nil)
        options.videoStreams = [.init(videoStreamName: "main", videoStreamID: 1)]
        options.audioStreams = [.init(audioStreamName: "sound", audioStreamID: 1)]
        return options
    }
}

/// Expects a refusal of one kind, after which nothing has changed.
func expectFault(
    _ kind: TransportFault.Kind, _ table: ConnectionTable = Fixture.table, location: SourceLocation = #_sourceLocation,
    _ body: (inout ConnectionTable) throws -> Void
) {
    var changed = table
    do {
        try body(&changed)
        Issue.record("it was not refused", sourceLocation: location)
    } catch let fault as TransportFault {
        #expect(fault.kind == kind, "\(fault.words)", sourceLocation: location)
    } catch {
        Issue.record(error, sourceLocation: location)
    }
    #expect(changed == table, sourceLocation: location)
}

/// Expects that options are refused when a connection is allocated.
func expectRefusal(
    _ kind: TransportFault.Kind, of camera: CameraCapabilities = Fixture.camera,
    _ options: TransportOptions = Fixture.options(), location: SourceLocation = #_sourceLocation,
    change: (inout TransportOptions) -> Void
) {
    var options = options
    change(&options)
    expectFault(kind, location: location) { table in
        _ = try table.allocate(options, for: Fixture.me, of: camera, at: 0)
    }
}

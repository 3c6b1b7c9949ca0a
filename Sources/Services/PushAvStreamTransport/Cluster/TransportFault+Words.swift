import HomeTypes

extension TransportFault {
    /// What was wrong, where, and what to do about it.
    public var words: String {
        switch self {
        case .constraint(let error): error.message
        case .chunkTooLong(let duration):
            "transportOptions.containerOptions.cmafContainerOptions.chunkDuration is \(duration); "
                + "it must be at most half of segmentDuration"
        case .noZones: "\(Self.trigger).motionZones is missing; null means anywhere"
        case .noTimeControl: "\(Self.trigger).motionTimeControl is missing"
        case .incompleteTimeControl: "\(Self.trigger).motionTimeControl is new and must be complete"
        case .noSensitivity: "\(Self.trigger).motionSensitivity is missing; null means the camera's own"
        case .sensitivityForAllZones(let place):
            "\(place.path)motionSensitivity: this camera has a sensitivity for each zone"
        case .fieldsForMotion(let type):
            "\(Self.trigger) has fields for motion, but its triggerType is \(type.rawValue)"
        case .preRollOfContinuous: "\(Self.trigger).maxPreRollLen: a continuous recording has no pre-roll"
        case .noPreRoll: "\(Self.trigger).maxPreRollLen is missing"
        case .preRollTooShort(let length, let interval):
            "\(Self.trigger).maxPreRollLen is \(length) ms; it must be 0, or at least \(interval) ms, "
                + "the time between the camera's key frames"
        case .zoneWithoutSensitivity(let index, let place): "\(place.zones)[\(index)].sensitivity is missing"
        case .zoneWithSensitivity(let index, let place):
            "\(place.zones)[\(index)].sensitivity: this camera has one sensitivity for all zones"
        case .repeatedZone(let place): "\(place.zones): a zone occurs twice"
        case .tooManyZones(let count, let limit, let place):
            "\(place.zones) has \(count) zones; there can be \(limit)"
        case .unknownZone(let zone, let place): "\(place.zones): the camera has no zone \(zone)"
        case .noContainerOptions: "\(Self.container).cmafContainerOptions is missing"
        case .incompleteKey: "\(Self.container): cencKey and cencKeyID go together"
        case .noMetadata: "\(Self.container): metadataEnabled: this camera records no metadata"
        case .noEncryption: "\(Self.container): this gateway does not encrypt recordings (cencKey)"
        case .unevenSegment(let segment, let interval):
            "transportOptions: a segment of \(segment) ms does not hold whole groups of pictures; "
                + "the camera sends a key frame every \(interval) ms"
        case .combination: "transportOptions: the container cannot be sent with this ingestMethod"
        case .unknownEndpoint(let id): "transportOptions.tlsEndpointID: no endpoint \(id) has been provisioned"
        case .url(let problem): "transportOptions.url cannot be used: \(problem)"
        case .bothStreamForms: "transportOptions has stream ids and lists of streams; use one form"
        case .noStreams: "transportOptions names no streams; use videoStreams and audioStreams"
        case .emptyStreamLists: "transportOptions names no streams: both lists are empty"
        case .repeatedStream: "transportOptions: a stream or its name occurs twice"
        case .sameStreamNames: "transportOptions: a picture and a sound have the same name"
        case .streamName(let name):
            "transportOptions: the stream name \(name.debugDescription) may hold letters, digits, - _ and . only, "
                + "and must not begin with a dot"
        case .severalStreams:
            "transportOptions names several pictures or sounds; a connection records one of each, so allocate a "
                + "connection for each"
        case .unknownVideoStream(let id): "transportOptions: the camera has no video stream \(id)"
        case .unknownAudioStream(let id): "transportOptions: the camera has no audio stream \(id)"
        case .noVideoStreamYet: "transportOptions.videoStreamID: \(Self.notDescribed)"
        case .noAudioStreamYet: "transportOptions.audioStreamID: \(Self.notDescribed)"
        case .usageWithoutPriority(let usage):
            "transportOptions.streamUsage: the camera's streamUsagePriorities do not contain \(usage.rawValue)"
        case .repeatedUsage: "streamPriorities: a usage occurs twice"
        case .usageNotOffered(let usage):
            "streamPriorities: this camera has no streams for the usage \(usage.rawValue)"
        case .unknownConnection(let id): "no connection has the id \(id); findTransport lists those that exist"
        case .tooManyConnections(let count):
            "the camera has \(count) connections already; deallocate one first"
        case .ownConnectionIsFixed(let id):
            "connection \(id) is the camera's own: its usage, its endpoint and its lifetime are fixed; "
                + "allocate another one"
        case .ownConnectionStays(let id):
            "connection \(id) is the camera's own and stays; setTransportStatus switches it off"
        case .clockNotSet:
            "transportOptions.expiryTime needs the time of day, and the gateway's clock is not set; set it first"
        case .unknownStatus: "transportStatus is not active or inactive"
        case .privacyForbidsActivation(let id):
            "connection \(id) cannot become active while the camera's privacy mode is on"
        case .privacyForbidsRecording: "the camera's privacy mode is on; nothing is recorded"
        case .inactive(let id): "connection \(id) is inactive; setTransportStatus makes it active"
        case .recordsAllTheTime(let id): "connection \(id) records all the time; it needs no trigger"
        case .noDurations(let id): "connection \(id) has no durations; the command needs a timeControl"
        case .noMotionTrigger(let id): "connection \(id) has no trigger by motion, so it has no zones"
        case .unknownDevice(let device): "device \(device) has no recording connections"
        case .nothingIsRecorded: "nothing is recorded: the gateway's config has no section recording"
        case .notKept(let fault):
            "the change cannot be saved (\(fault)); nothing was changed"
        }
    }

    fileprivate static let trigger = "transportOptions.triggerOptions"
    private static let container = "transportOptions.containerOptions"
    private static let notDescribed =
        "no such stream can be chosen yet, because the camera has not described itself"
}

extension TransportFault.ZonePlace {
    /// What stands before the names of the fields.
    fileprivate var path: String {
        switch self {
        case .options: "\(TransportFault.trigger)."
        case .update: ""
        }
    }

    fileprivate var zones: String { "\(path)motionZones" }
}

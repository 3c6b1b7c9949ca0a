import HomeTypes

/// What options must be, in the order in which Matter's reference server checks it.
extension ConnectionTable {
    /// Checks whole options.
    /// - Parameters:
    ///   - kept: a connection whose streams stay as they are.
    ///   - old: the options before; nil for a new connection. Times that stay as they are were accepted when they were set.
    /// - Returns: the options with both forms of the streams.
    func check(
        _ options: TransportOptions, of camera: CameraCapabilities, keepingStreamsOf kept: TransportConnection? = nil,
        old: TransportOptions? = nil
    ) throws(TransportFault) -> TransportOptions {
        let root = "transportOptions"
        try Self.constraints { () throws(HomeError) in try options.validate(at: root) }
        if let cmaf = options.containerOptions.cmafContainerOptions, cmaf.chunkDuration > cmaf.segmentDuration / 2 {
            throw TransportFault(
                .constraintError,
                "\(root).containerOptions.cmafContainerOptions.chunkDuration is \(cmaf.chunkDuration); "
                    + "it must be at most half of segmentDuration")
        }
        try Self.checkTrigger(options.triggerOptions, of: camera, at: "\(root).triggerOptions")
        try Self.checkContainer(options.containerOptions, of: camera, at: "\(root).containerOptions")
        if kept == nil { try Self.checkStreamFields(options, at: root) }
        guard camera.hasEndpoint(options.tlsEndpointID) else {
            throw TransportFault(
                .invalidTLSEndpoint, "\(root).tlsEndpointID: no endpoint \(options.tlsEndpointID) has been provisioned")
        }
        let format = Google.PushAvStreamTransportTrait.SupportedFormatStruct(
            containerFormat: options.containerOptions.containerType, ingestMethod: options.ingestMethod)
        guard camera.formats.contains(format) else {
            throw TransportFault(
                .invalidCombination, "\(root): the container cannot be sent with this ingestMethod")
        }
        if let problem = TransportURL.problem(with: options.url) {
            throw TransportFault(.invalidURL, "\(root).url cannot be used: \(problem)")
        }
        guard usagePriorities.contains(options.streamUsage) else {
            throw TransportFault(
                .invalidStreamUsage,
                "\(root).streamUsage: the camera's streamUsagePriorities do not contain \(options.streamUsage.rawValue)"
            )
        }
        if let zones = options.triggerOptions.motionZones, let zones {
            try Self.checkZones(zones, of: camera, at: "\(root).triggerOptions.motionZones")
        }
        var options = options
        if let kept {
            options.copyStreams(from: kept.options)
        } else {
            try resolveStreams(&options, at: root)
        }
        let unchanged = kept == nil ? nil : old
        try checkSegments(options, replacing: unchanged, at: root)
        if old == nil { try requireRoom(in: camera) }
        try checkPreRoll(options, replacing: unchanged, at: root)
        return options
    }

    /// The vocabulary's own constraints, as a refusal of the cluster.
    static func constraints(_ body: () throws(HomeError) -> Void) throws(TransportFault) {
        do { try body() } catch { throw TransportFault(.constraintError, error.message) }
    }

    /// Which fields a trigger has.
    private static func checkTrigger(
        _ trigger: TransportTriggerOptions, of camera: CameraCapabilities, at path: String
    ) throws(TransportFault) {
        func refuse(_ words: String) -> TransportFault { TransportFault(.invalidCommand, "\(path)\(words)") }
        if trigger.triggerType == .motion {
            guard trigger.motionZones != nil else { throw refuse(".motionZones is missing; null means anywhere") }
            guard trigger.motionTimeControl != nil else { throw refuse(".motionTimeControl is missing") }
            guard (trigger.motionSensitivity == nil) == camera.hasZoneSensitivity else {
                throw refuse(
                    camera.hasZoneSensitivity
                        ? ".motionSensitivity: this camera has a sensitivity for each zone"
                        : ".motionSensitivity is missing; null means the camera's own")
            }
            if let zones = trigger.motionZones, let zones {
                try checkZoneForm(zones, of: camera, at: "\(path).motionZones")
            }
        } else {
            guard trigger.motionZones == nil, trigger.motionTimeControl == nil, trigger.motionSensitivity == nil else {
                throw refuse(" has fields for motion, but its triggerType is \(trigger.triggerType.rawValue)")
            }
        }
        guard (trigger.maxPreRollLen == nil) == (trigger.triggerType == .continuous) else {
            throw refuse(
                trigger.triggerType == .continuous
                    ? ".maxPreRollLen: a continuous recording has no pre-roll" : ".maxPreRollLen is missing")
        }
    }

    /// Whether zones have the field that the camera's feature asks for.
    static func checkZoneForm(
        _ zones: [TransportZone], of camera: CameraCapabilities, at path: String
    ) throws(TransportFault) {
        for (index, zone) in zones.enumerated() where (zone.sensitivity != nil) != camera.hasZoneSensitivity {
            throw TransportFault(
                .invalidCommand,
                camera.hasZoneSensitivity
                    ? "\(path)[\(index)].sensitivity is missing"
                    : "\(path)[\(index)].sensitivity: this camera has one sensitivity for all zones")
        }
    }

    /// Whether zones exist, and are named once.
    static func checkZones(
        _ zones: [TransportZone], of camera: CameraCapabilities, at path: String
    ) throws(TransportFault) {
        guard Set(zones.map(\.zone)).count == zones.count else {
            throw TransportFault(.alreadyExists, "\(path): a zone occurs twice")
        }
        guard zones.count <= camera.maximumZones else {
            throw TransportFault(
                .dynamicConstraintError, "\(path) has \(zones.count) zones; there can be \(camera.maximumZones)")
        }
        if let unknown = zones.compactMap(\.zone).first(where: { !camera.zones.contains($0) }) {
            throw TransportFault(.invalidZone, "\(path): the camera has no zone \(unknown)")
        }
    }

    /// Which fields a container has.
    private static func checkContainer(
        _ container: Google.PushAvStreamTransportTrait.ContainerOptionsStruct, of camera: CameraCapabilities,
        at path: String
    ) throws(TransportFault) {
        guard let cmaf = container.cmafContainerOptions else {
            throw TransportFault(.invalidCommand, "\(path).cmafContainerOptions is missing")
        }
        guard (cmaf.cencKey == nil) == (cmaf.cencKeyID == nil) else {
            throw TransportFault(.invalidCommand, "\(path): cencKey and cencKeyID go together")
        }
        guard cmaf.metadataEnabled == nil || camera.hasMetadata else {
            throw TransportFault(.invalidCommand, "\(path): metadataEnabled: this camera records no metadata")
        }
        // Provisional in Matter. A key that is accepted and not used would promise what is not done.
        guard cmaf.cencKey == nil else {
            throw TransportFault(.invalidCommand, "\(path): this gateway does not encrypt recordings (cencKey)")
        }
    }

    /// Exactly one of the two forms of the streams.
    private static func checkStreamFields(_ options: TransportOptions, at path: String) throws(TransportFault) {
        let old = options.videoStreamID != nil || options.audioStreamID != nil
        let new = options.videoStreams != nil || options.audioStreams != nil
        guard old != new else {
            throw TransportFault(
                .invalidCommand,
                old
                    ? "\(path) has stream ids and lists of streams; use one form"
                    : "\(path) names no streams; use videoStreams and audioStreams")
        }
    }

    /// Whether the camera can have another connection.
    private func requireRoom(in camera: CameraCapabilities) throws(TransportFault) {
        guard connections.count < camera.maximumConnections else {
            throw TransportFault(
                .resourceExhausted,
                "the camera has \(connections.count) connections already; deallocate one first")
        }
    }

    /// The times between the key frames of the pictures that options name, in milliseconds. A camera without a steady one
    /// is not refused anything.
    private func keyFrameIntervals(of options: TransportOptions) -> [UInt16] {
        let used = Set((options.videoStreams ?? []).map(\.videoStreamID))
        return streams.video.filter { used.contains($0.id) }.compactMap(\.keyFrameInterval).filter { $0 > 0 }
    }

    /// Whether segments hold whole groups of pictures.
    /// - Parameter old: the options before, on the same streams.
    private func checkSegments(
        _ options: TransportOptions, replacing old: TransportOptions?, at path: String
    ) throws(TransportFault) {
        guard let segment = options.containerOptions.cmafContainerOptions?.segmentDuration,
            segment != old?.containerOptions.cmafContainerOptions?.segmentDuration,
            let interval = keyFrameIntervals(of: options).first(where: { segment % $0 != 0 })
        else { return }
        throw TransportFault(
            .invalidOptions,
            "\(path): a segment of \(segment) ms does not hold whole groups of pictures; "
                + "the camera sends a key frame every \(interval) ms")
    }

    /// Whether a pre-roll can begin with a key frame.
    /// - Parameter old: the options before, on the same streams.
    private func checkPreRoll(
        _ options: TransportOptions, replacing old: TransportOptions?, at path: String
    ) throws(TransportFault) {
        guard let preRoll = options.triggerOptions.maxPreRollLen, preRoll != 0,
            preRoll != old?.triggerOptions.maxPreRollLen,
            let interval = keyFrameIntervals(of: options).first(where: { preRoll < $0 })
        else { return }
        throw TransportFault(
            .invalidPreRollLength,
            "\(path).triggerOptions.maxPreRollLen is \(preRoll) ms; it must be 0, or at least \(interval) ms, "
                + "the time between the camera's key frames")
    }
}

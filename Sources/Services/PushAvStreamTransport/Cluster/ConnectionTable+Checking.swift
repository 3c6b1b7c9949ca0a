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
        try Self.constraints { () throws(HomeError) in try options.validate(at: "transportOptions") }
        if let cmaf = options.containerOptions.cmafContainerOptions, cmaf.chunkDuration > cmaf.segmentDuration / 2 {
            throw .chunkTooLong(cmaf.chunkDuration)
        }
        try Self.checkTrigger(options.triggerOptions, of: camera)
        try Self.checkContainer(options.containerOptions, of: camera)
        if kept == nil { try Self.checkStreamFields(options) }
        guard camera.hasEndpoint(options.tlsEndpointID) else { throw .unknownEndpoint(options.tlsEndpointID) }
        let format = Google.PushAvStreamTransportTrait.SupportedFormatStruct(
            containerFormat: options.containerOptions.containerType, ingestMethod: options.ingestMethod)
        guard camera.formats.contains(format) else { throw .combination }
        if let problem = TransportURL.problem(with: options.url) { throw .url(problem) }
        guard usagePriorities.contains(options.streamUsage) else { throw .usageWithoutPriority(options.streamUsage) }
        if let zones = options.triggerOptions.motionZones, let zones {
            try Self.checkZones(zones, of: camera, in: .options)
        }
        var options = options
        if let kept {
            options.copyStreams(from: kept.options)
        } else {
            try resolveStreams(&options)
        }
        let unchanged = kept == nil ? nil : old
        try checkSegments(options, replacing: unchanged)
        if old == nil { try requireRoom(in: camera) }
        try checkPreRoll(options, replacing: unchanged)
        return options
    }

    /// The vocabulary's own constraints, as a refusal of the cluster.
    static func constraints(_ body: () throws(HomeError) -> Void) throws(TransportFault) {
        do { try body() } catch { throw TransportFault.constraint(error) }
    }

    /// Which fields a trigger has.
    private static func checkTrigger(
        _ trigger: TransportTriggerOptions, of camera: CameraCapabilities
    ) throws(TransportFault) {
        if trigger.triggerType == .motion {
            guard trigger.motionZones != nil else { throw .noZones }
            guard trigger.motionTimeControl != nil else { throw .noTimeControl }
            guard (trigger.motionSensitivity == nil) == camera.hasZoneSensitivity else {
                throw camera.hasZoneSensitivity ? TransportFault.sensitivityForAllZones(.options) : .noSensitivity
            }
            if let zones = trigger.motionZones, let zones {
                try checkZoneForm(zones, of: camera, in: .options)
            }
        } else {
            guard trigger.motionZones == nil, trigger.motionTimeControl == nil, trigger.motionSensitivity == nil else {
                throw .fieldsForMotion(trigger.triggerType)
            }
        }
        guard (trigger.maxPreRollLen == nil) == (trigger.triggerType == .continuous) else {
            throw trigger.triggerType == .continuous ? TransportFault.preRollOfContinuous : .noPreRoll
        }
    }

    /// Whether zones have the field that the camera's feature asks for.
    static func checkZoneForm(
        _ zones: [TransportZone], of camera: CameraCapabilities, in place: TransportFault.ZonePlace
    ) throws(TransportFault) {
        for (index, zone) in zones.enumerated() where (zone.sensitivity != nil) != camera.hasZoneSensitivity {
            throw camera.hasZoneSensitivity
                ? TransportFault.zoneWithoutSensitivity(index, place) : .zoneWithSensitivity(index, place)
        }
    }

    /// Whether zones exist, and are named once.
    static func checkZones(
        _ zones: [TransportZone], of camera: CameraCapabilities, in place: TransportFault.ZonePlace
    ) throws(TransportFault) {
        guard Set(zones.map(\.zone)).count == zones.count else { throw .repeatedZone(place) }
        guard zones.count <= camera.maximumZones else {
            throw .tooManyZones(zones.count, limit: camera.maximumZones, place)
        }
        if let unknown = zones.compactMap(\.zone).first(where: { !camera.zones.contains($0) }) {
            throw .unknownZone(unknown, place)
        }
    }

    /// Which fields a container has.
    private static func checkContainer(
        _ container: Google.PushAvStreamTransportTrait.ContainerOptionsStruct, of camera: CameraCapabilities
    ) throws(TransportFault) {
        guard let cmaf = container.cmafContainerOptions else { throw .noContainerOptions }
        guard (cmaf.cencKey == nil) == (cmaf.cencKeyID == nil) else { throw .incompleteKey }
        guard cmaf.metadataEnabled == nil || camera.hasMetadata else { throw .noMetadata }
        // Provisional in Matter. A key that is accepted and not used would promise what is not done.
        guard cmaf.cencKey == nil else { throw .noEncryption }
    }

    /// Exactly one of the two forms of the streams.
    private static func checkStreamFields(_ options: TransportOptions) throws(TransportFault) {
        let old = options.videoStreamID != nil || options.audioStreamID != nil
        let new = options.videoStreams != nil || options.audioStreams != nil
        guard old != new else { throw old ? TransportFault.bothStreamForms : .noStreams }
    }

    /// Whether the camera can have another connection.
    private func requireRoom(in camera: CameraCapabilities) throws(TransportFault) {
        guard connections.count < camera.maximumConnections else {
            throw .tooManyConnections(connections.count)
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
        _ options: TransportOptions, replacing old: TransportOptions?
    ) throws(TransportFault) {
        guard let segment = options.containerOptions.cmafContainerOptions?.segmentDuration,
            segment != old?.containerOptions.cmafContainerOptions?.segmentDuration,
            let interval = keyFrameIntervals(of: options).first(where: { segment % $0 != 0 })
        else { return }
        throw .unevenSegment(segment, keyFrameInterval: interval)
    }

    /// Whether a pre-roll can begin with a key frame.
    /// - Parameter old: the options before, on the same streams.
    private func checkPreRoll(
        _ options: TransportOptions, replacing old: TransportOptions?
    ) throws(TransportFault) {
        guard let preRoll = options.triggerOptions.maxPreRollLen, preRoll != 0,
            preRoll != old?.triggerOptions.maxPreRollLen,
            let interval = keyFrameIntervals(of: options).first(where: { preRoll < $0 })
        else { return }
        throw .preRollTooShort(preRoll, keyFrameInterval: interval)
    }
}

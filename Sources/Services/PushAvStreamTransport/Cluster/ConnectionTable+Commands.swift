import HomeTypes

/// The commands of the cluster. Each is applied as a whole or refused.
extension ConnectionTable {
    /// `allocatePushTransport`. The connection begins inactive.
    /// - Parameter now: milliseconds since 1970, UTC.
    public mutating func allocate(
        _ options: TransportOptions, for principal: String, of camera: CameraCapabilities, at now: Int64
    ) throws(TransportFault) -> TransportConnection {
        let options = try check(options, of: camera)
        try Self.requireTime(now, for: options.expiryTime)
        let connection = TransportConnection(
            id: takeID(), status: .inactive, options: options, owner: principal,
            expiry: options.expiryTime.map { now + Int64($0) * 1_000 })
        connections.append(connection)
        return connection
    }

    /// `modifyPushTransport`: what is absent from the options stays as it is.
    /// - Parameter now: milliseconds since 1970, UTC.
    public mutating func modify(
        _ id: UInt16, _ partial: PartialTransportOptions, for principal: String, of camera: CameraCapabilities,
        at now: Int64
    ) throws(TransportFault) {
        try Self.constraints { () throws(HomeError) in try partial.validate(at: "transportOptions") }
        let index = try index(of: id, for: principal)
        let old = connections[index]
        let partial = partial.withoutKnownStreams(old.options)
        let merged = try old.options.merging(partial)
        if old.isPermanent {
            guard merged.tlsEndpointID == 0, merged.streamUsage == .recording, merged.expiryTime == nil else {
                throw .ownConnectionIsFixed(id)
            }
        }
        try Self.requireTime(now, for: partial.expiryTime)
        // Its streams may not be known yet, and stay if nothing is said about them.
        connections[index].options = try check(
            merged, of: camera, keepingStreamsOf: partial.namesStreams ? nil : old, old: old.options)
        if let seconds = partial.expiryTime { connections[index].expiry = now + Int64(seconds) * 1_000 }
    }

    /// A lifetime is kept as a moment. A clock that is set later would end the connection at once.
    private static func requireTime(_ now: Int64, for lifetime: UInt32?) throws(TransportFault) {
        guard lifetime != nil, now < earliestTime else { return }
        throw .clockNotSet
    }

    /// The beginning of 2020 in milliseconds since 1970: a clock that shows less has not been set.
    private static let earliestTime: Int64 = 1_577_836_800_000

    /// `deallocatePushTransport`.
    /// - Parameter seesAll: whether the principal is the owner of the home, who may remove those of others, too.
    public mutating func deallocate(
        _ id: UInt16, for principal: String, seesAll: Bool = false
    ) throws(TransportFault) {
        let index = try index(of: id, for: principal, seesAll: seesAll)
        guard !connections[index].isPermanent else { throw .ownConnectionStays(id) }
        connections.remove(at: index)
    }

    /// `setTransportStatus`: one connection, or with nil the camera.
    public mutating func setStatus(
        _ id: UInt16?, _ status: TransportStatus, for principal: String
    ) throws(TransportFault) {
        guard let id else { return try setStatusOfCamera(status, for: principal) }
        let index = try index(of: id, for: principal)
        if status == .active { try requirePermission([index]) }
        connections[index].status = status
        connections[index].isSuspended = false
    }

    private mutating func setStatusOfCamera(_ status: TransportStatus, for principal: String) throws(TransportFault) {
        let own = connections.indices.filter { connections[$0].isVisible(to: principal) }
        let others = connections.indices.filter { !connections[$0].isVisible(to: principal) }
        switch status {
        case .active:
            try requirePermission(own)
            for index in own { connections[index].status = .active }
            for index in others where connections[index].isSuspended && isPermitted(index) {
                connections[index].status = .active
            }
        case .inactive:
            for index in others where connections[index].status == .active { connections[index].isSuspended = true }
            for index in connections.indices { connections[index].status = .inactive }
        case .unrecognized_: throw .unknownStatus
        }
        for index in connections.indices where own.contains(index) || connections[index].status == .active {
            connections[index].isSuspended = false
        }
    }

    private func isPermitted(_ index: Int) -> Bool { !privacy.refuse(connections[index].options.streamUsage) }

    private func requirePermission(_ indices: [Int]) throws(TransportFault) {
        guard let refused = indices.first(where: { !isPermitted($0) }) else { return }
        throw .privacyForbidsActivation(connections[refused].id)
    }

    /// `manuallyTriggerTransport`, as far as the connection is concerned.
    /// - Returns: how long the recording lasts; nil for a connection that says nothing about it.
    public func checkManualTrigger(
        _ id: UInt16, _ time: TransportTimeControl?, for principal: String
    ) throws(TransportFault) -> TransportTimeControl? {
        if let time { try Self.constraints { () throws(HomeError) in try time.validate(at: "timeControl") } }
        let connection = connections[try index(of: id, for: principal)]
        guard !privacy.refuse(connection.options.streamUsage) else { throw .privacyForbidsRecording }
        guard connection.status == .active else { throw .inactive(id) }
        switch connection.options.triggerOptions.triggerType {
        case .continuous: throw .recordsAllTheTime(id)
        case .command where time == nil: throw .noDurations(id)
        case .command, .motion, .unrecognized_: return time ?? connection.options.triggerOptions.motionTimeControl
        }
    }

    /// `updateMotionZoneOptions`. An absent value stays as it is.
    public mutating func updateZones(
        _ id: UInt16, zones: [TransportZone]??, sensitivity: UInt8??, for principal: String,
        of camera: CameraCapabilities
    ) throws(TransportFault) {
        try Self.constraints { () throws(HomeError) in
            try Constraint.records(zones ?? nil, "motionZones", at: "")
            try Constraint.range(sensitivity ?? nil, 1...10, "motionSensitivity", at: "")
        }
        let index = try index(of: id, for: principal)
        guard connections[index].options.triggerOptions.triggerType == .motion else {
            throw .noMotionTrigger(id)
        }
        if camera.hasZoneSensitivity, sensitivity != nil { throw .sensitivityForAllZones(.update) }
        if let zones, let zones { try Self.checkZoneForm(zones, of: camera, in: .update) }
        if let zones, let zones { try Self.checkZones(zones, of: camera, in: .update) }
        if let zones { connections[index].options.triggerOptions.motionZones = .some(zones) }
        if let sensitivity { connections[index].options.triggerOptions.motionSensitivity = .some(sensitivity) }
    }

    /// `setStreamPriorities`.
    public mutating func setPriorities(_ usages: [StreamUsage]) throws(TransportFault) {
        guard Set(usages).count == usages.count else { throw .repeatedUsage }
        if let odd = usages.first(where: { !StreamUsage.offered.contains($0) }) { throw .usageNotOffered(odd) }
        usagePriorities = usages
    }

    /// Sets privacy switches; nil leaves one as it is.
    public mutating func setPrivacy(softRecording: Bool? = nil, softLivestream: Bool? = nil, hard: Bool? = nil) {
        privacy.softRecording = softRecording ?? privacy.softRecording
        privacy.softLivestream = softLivestream ?? privacy.softLivestream
        privacy.hard = hard ?? privacy.hard
    }

    /// Mutes the microphone; nil leaves a switch as it is.
    public mutating func setMicrophone(muted: Bool? = nil, mutedInRecordings: Bool? = nil) {
        privacy.microphoneMuted = muted ?? privacy.microphoneMuted
        privacy.recordingMicrophoneMuted = mutedInRecordings ?? privacy.recordingMicrophoneMuted
    }

    /// The next free number. There is one, because a camera has fewer connections than there are numbers.
    private mutating func takeID() -> UInt16 {
        let used = Set(connections.map(\.id))
        var id = nextID
        while used.contains(id) { id = Self.following(id) }
        nextID = Self.following(id)
        return id
    }

    private static func following(_ id: UInt16) -> UInt16 { id >= 65_534 ? 1 : id + 1 }
}

import HomeTypes

/// The recording connections of one camera, its streams and its privacy. A value without I/O and clock: its holder
/// stores it before a change is acknowledged.
///
/// Source: Matter 1.5 and 1.5.1, Push AV Stream Transport (0x0555). Deviations:
/// - A principal of the gateway stands for a fabric. The camera's own connection belongs to all of them. The owner of the
///   home finds and removes those of others, too.
/// - `setTransportStatus` without a connection switches the camera off for everybody: connections of others are suspended,
///   and active again when the camera is switched on in the same way. Otherwise the camera would stay on.
/// - A connection records one picture and one sound. A list with several is refused (`ResourceExhausted`).
/// - `sessionGroup` and `trackName` may be there or missing with both forms of the streams. Apps write options that they have
///   read, and the answers fill both forms.
/// - What waits for its upload does not block commands: `Busy` is never answered (as the specification's own test 2.6 wants).
public struct ConnectionTable: Codable, Equatable, Sendable {
    /// The connections in the order in which they were made. The camera's own one is first.
    public internal(set) var connections: [TransportConnection] = []
    /// What the config wanted of the camera's own connection when it was last applied.
    public internal(set) var wanted: OwnConnection
    /// The camera's streams.
    public internal(set) var streams = AllocatedStreams()
    /// The privacy switches.
    public internal(set) var privacy = PrivacySwitches()
    /// The usages that are permitted, the most important first.
    public internal(set) var usagePriorities: [StreamUsage] = StreamUsage.offered
    /// The number of the latest CMAF session of each principal's session groups.
    var sessionNumbers: [String: UInt64] = [:]
    /// The number that the next connection gets if it is free.
    public internal(set) var nextID: UInt16 = 1
    /// The first number of the connections that were made after the previous table was lost; nil when none was lost,
    /// and in tables of versions that always began with the same number.
    var firstAfterLoss: UInt16?
    /// When the home lost the camera, in milliseconds since 1970, UTC; nil for a camera that it has.
    var removedAt: Int64?

    /// Begins with the camera's own connection, which is active.
    public init(_ wanted: OwnConnection = OwnConnection()) {
        self.wanted = wanted
        connections = [
            TransportConnection(id: 1, status: .active, options: wanted.options, owner: nil, expiry: nil)
        ]
        nextID = 2
    }

    // MARK: Reading

    /// Whether the camera is on.
    public var isOn: Bool { connections.contains { $0.status == .active } }

    /// The same connections, none of them active.
    public var switchedOff: ConnectionTable {
        var table = self
        for index in table.connections.indices { table.connections[index].status = .inactive }
        return table
    }

    /// The connection that a principal names.
    /// - Parameter seesAll: whether the principal is the owner of the home, who finds those of others, too.
    /// - Throws: `notFound` for an unknown one, and for one of another principal.
    func index(of id: UInt16, for principal: String, seesAll: Bool = false) throws(TransportFault) -> Int {
        guard
            let index = connections.firstIndex(where: { $0.id == id && (seesAll || $0.isVisible(to: principal)) })
        else {
            throw .unknownConnection(id)
        }
        return index
    }

    /// A connection.
    public func connection(_ id: UInt16) -> TransportConnection? { connections.first { $0.id == id } }

    /// `findTransport`: one connection or all of the principal's, with their options.
    /// - Parameter seesAll: whether the principal is the owner of the home, who finds those of others, too.
    public func find(
        _ id: UInt16?, for principal: String, seesAll: Bool = false
    ) throws(TransportFault) -> [TransportConfiguration] {
        if let id {
            let index = try index(of: id, for: principal, seesAll: seesAll)
            return [connections[index].configuration(withOptions: true)]
        }
        return connections.filter { seesAll || $0.isVisible(to: principal) }
            .map { $0.configuration(withOptions: true) }
    }

    /// How many connections use a picture.
    public func videoReferences(_ id: UInt16) -> Int {
        connections.count { $0.options.videoStreams?.contains { $0.videoStreamID == id } == true }
    }

    /// How many connections use a sound.
    public func audioReferences(_ id: UInt16) -> Int {
        connections.count { $0.options.audioStreams?.contains { $0.audioStreamID == id } == true }
    }

    /// When the next connection ends by itself, in milliseconds since 1970; nil if none does.
    public var nextExpiry: Int64? { connections.compactMap(\.expiry).min() }

    // MARK: What the camera and the config say

    /// Adopts what the config wants of the camera's own connection, if it wants something else than before.
    public mutating func configure(_ wanted: OwnConnection) {
        guard wanted != self.wanted, let index = connections.firstIndex(where: \.isPermanent) else { return }
        self.wanted = wanted
        connections[index].options.triggerOptions = wanted.options.triggerOptions
    }

    /// Adopts what the camera says of its streams. A stream that it no longer sends stays allocated while a connection uses
    /// it, because the camera may send it again.
    public mutating func describe(_ streams: AllocatedStreams) {
        func merged(_ old: [AllocatedStream], _ new: [AllocatedStream], isUsed: (UInt16) -> Bool) -> [AllocatedStream] {
            let gone = old.filter { one in !new.contains { $0.id == one.id } && isUsed(one.id) }
            return (new + gone).sorted { $0.id < $1.id }
        }
        var video = merged(self.streams.video, streams.video) { videoReferences($0) > 0 }
        // A camera describes its codecs; how far its key frames are apart was measured.
        for index in video.indices where video[index].keyFrameInterval == nil {
            let known = self.streams.video.first { $0.id == video[index].id && $0.codec == video[index].codec }
            video[index].keyFrameInterval = known?.keyFrameInterval
        }
        self.streams.video = video
        self.streams.audio = merged(self.streams.audio, streams.audio) { audioReferences($0) > 0 }
    }

    /// Adopts what was measured of a picture: the time between its key frames in milliseconds, nil where it is not steady.
    public mutating func setKeyFrameInterval(_ interval: UInt16?, of video: UInt16) {
        guard let index = streams.video.firstIndex(where: { $0.id == video }) else { return }
        streams.video[index].keyFrameInterval = interval
    }

    /// Removes the connections whose time is over.
    /// - Parameter now: milliseconds since 1970, UTC.
    /// - Returns: the removed connections.
    public mutating func expire(at now: Int64) -> [TransportConnection] {
        let gone = connections.filter { $0.expiry.map { $0 <= now } ?? false }
        connections.removeAll { one in gone.contains { $0.id == one.id } }
        return gone
    }

    /// Removes the connections whose principals may no longer have the camera's footage. The camera's own one stays.
    /// - Returns: the removed connections.
    mutating func end(unless mayKeep: (_ owner: String) -> Bool) -> [TransportConnection] {
        let gone = connections.filter { $0.owner.map { !mayKeep($0) } ?? false }
        connections.removeAll { one in gone.contains { $0.id == one.id } }
        return gone
    }

    /// A new number for a CMAF session of a session group. No other session of the camera has had it, so two groups may
    /// upload to one address.
    mutating func takeSessionNumber(of group: String) -> UInt64 {
        let number = (sessionNumbers.values.max() ?? 0) + 1
        sessionNumbers[group] = number
        return number
    }
}

extension TransportConnection {
    /// Whether a principal may see and use it.
    func isVisible(to principal: String) -> Bool { owner == nil || owner == principal }

    /// The key of its session numbers.
    var sessionGroup: String {
        "\(options.containerOptions.cmafContainerOptions?.sessionGroup ?? 1)/\(owner ?? "")"
    }
}

extension StreamUsage {
    /// The usages that cameras of this gateway offer.
    public static let offered: [StreamUsage] = [.recording, .analysis, .liveView]
}

/// What the config wants of a camera's own connection.
public struct OwnConnection: Codable, Hashable, Sendable {
    /// What begins its recordings.
    public var trigger: TransportTriggerType
    /// Milliseconds of pre-roll; ignored when it always records.
    public var preRoll: UInt16
    /// How long its recordings last; ignored when it always records.
    public var time: TransportTimeControl

    /// How long recordings last unless the config says otherwise, in seconds.
    public static let usualTime = TransportTimeControl(
        initialDuration: 10, augmentationDuration: 10, maxDuration: 120, blindDuration: 0)

    /// The usual connection: motion begins its recordings.
    public init(
        trigger: TransportTriggerType = .motion, preRoll: UInt16 = 4_000, time: TransportTimeControl = usualTime
    ) {
        self.trigger = trigger
        self.preRoll = preRoll
        self.time = time
    }

    /// Its options as an app sees them. The local store has no address; the option has to have one.
    var options: TransportOptions {
        TransportOptions(
            streamUsage: .recording, videoStreamID: .some(AllocatedStreams.mainVideo),
            audioStreamID: .some(AllocatedStreams.audio), tlsEndpointID: 0, url: "https://localhost/",
            triggerOptions: TransportTriggerOptions(
                triggerType: trigger, motionZones: trigger == .motion ? .some(nil) : nil,
                motionSensitivity: trigger == .motion ? .some(nil) : nil,
                motionTimeControl: trigger == .motion ? time : nil,
                maxPreRollLen: trigger == .continuous ? nil : preRoll),
            ingestMethod: .cmafIngest,
            containerOptions: .init(
                containerType: .cmaf,
                cmafContainerOptions: .init(cmafInterface: .interface1, segmentDuration: 4_000, chunkDuration: 1_000)),
            videoStreams: [.init(videoStreamName: "video", videoStreamID: AllocatedStreams.mainVideo)],
            audioStreams: [.init(audioStreamName: "audio", audioStreamID: AllocatedStreams.audio)])
    }
}

import Intake
import RTP
import SDP
import StreamFormats
import Transport

/// Hands the units of a stream to the sink as the packets of its tracks. It reads no clock and waits for nothing.
struct StreamOutput {
    private struct Track {
        var packetizer: UnitPacketizer
        var hasProfile: Bool
        var nextReport: Instant
    }

    private var output: SourceOutput
    private var random: RandomSource
    /// The tracks that have been announced, as the stream describes them.
    private var announced: [StreamTrack] = []
    private var lastAnnounced = Instant.zero
    /// The announced position of each track of the stream; nil where it is left out.
    private var positions: [Int?] = []
    private var tracks: [Track] = []
    /// What has come before the tracks were announced.
    private var waiting = WaitingUnits()
    /// The wall clock at the time 0 of the stream, in nanoseconds.
    private var wallOffset: Int64?
    /// The first and the newest unit of this attempt.
    private(set) var flowingSince: Instant?

    /// Each announcement restarts the tracks. A stream that changes all the time gets one a second.
    private static let announcementPause = Duration.seconds(1)
    /// When the wall clock and the stream's differ by more, one of them was set.
    private static let maximumDrift: Int64 = 1_000_000_000
    /// How far the relation of the two moves per second.
    private static let driftStep: Int64 = 1_000_000

    init(sink: any CameraSink, findings: SourceFindings, random: RandomSource) {
        output = SourceOutput(sink: sink, findings: findings)
        self.random = random
    }

    /// Reports a state to the sink, unless the sink already knows it.
    mutating func report(_ state: SourceState) { output.report(state) }

    /// A new attempt, or times that do not continue: the next unit follows the last one that went out.
    mutating func restart() {
        (announced, positions, tracks) = ([], [], [])
        (waiting, wallOffset, flowingSince) = (WaitingUnits(), nil, nil)
    }

    /// The times do not continue those before.
    mutating func beginEpoch() {
        wallOffset = nil
        for index in tracks.indices {
            tracks[index].packetizer = packetizer(for: index)
        }
    }

    /// Takes a unit.
    /// - Parameters:
    ///   - found: the tracks that have been found so far.
    ///   - awaitsTracks: whether more are expected.
    ///   - wallClock: nanoseconds since 1970 at `now`.
    mutating func take(
        _ unit: StreamUnit, of found: [StreamTrack], awaitsTracks: Bool, at now: Instant, wallClock: Int64
    ) {
        guard found.indices.contains(unit.track) else { return }
        if announced.isEmpty {
            guard waiting.add(unit, awaitsTracks: awaitsTracks, at: now) else { return }
            announce(found, at: now)
            for unit in waiting.take() { deliver(unit, at: now, wallClock: wallClock) }
            return
        }
        if found != announced, now - lastAnnounced >= Self.announcementPause { announce(found, at: now) }
        deliver(unit, at: now, wallClock: wallClock)
    }

    /// Announces the tracks, video first.
    private mutating func announce(_ found: [StreamTrack], at now: Instant) {
        announced = found
        lastAnnounced = now
        positions = Array(repeating: nil, count: found.count)
        let described = found.described
        tracks = []
        for (position, track) in described.enumerated() { positions[track.index] = position }
        output.announce(described.map(\.track), limit: PayloadLimit.everyPath, random: &random, at: now)
        for (index, (_, track)) in described.enumerated() {
            let parameters = track.description.codec.formatParameters
            let isDescribed = parameters["profile-level-id"] != nil || parameters["profile-id"] != nil
            tracks.append(
                Track(
                    packetizer: packetizer(for: index),
                    hasProfile: isDescribed || track.description.kind == .audio, nextReport: now))
        }
    }

    private mutating func packetizer(for position: Int) -> UnitPacketizer {
        let source = positions.firstIndex(of: position) ?? 0
        let description = output.descriptions[position]
        return UnitPacketizer(
            announced[source].codec, clockRate: description.codec.clockRate, payloadType: description.payloadType,
            random: &random)
    }

    private mutating func deliver(_ unit: StreamUnit, at now: Instant, wallClock: Int64) {
        guard positions.indices.contains(unit.track), let position = positions[unit.track] else { return }
        let box = output.tracks[position]
        tracks[position].packetizer.packetize(unit) { packet in
            _ = box.track.receive(packet, at: now)
        }
        if flowingSince == nil {
            flowingSince = now
            output.report(.flowing)
        }
        if box.track.reordering.isReordering { output.learnReordering(track: position) }
        if !tracks[position].hasProfile, box.track.frame?.isKeyFrame == true {
            let parameters = box.track.learnedParameters
            if !parameters.isEmpty {
                tracks[position].hasProfile = true
                output.learnProfile(parameters, track: position)
            }
        }
        report(unit, position, at: now, wallClock: wallClock)
    }

    /// Says once per second which moment the track has reached. All tracks have one clock, so their relation is exact,
    /// whenever their packets come.
    private mutating func report(_ unit: StreamUnit, _ position: Int, at now: Instant, wallClock: Int64) {
        guard now >= tracks[position].nextReport else { return }
        tracks[position].nextReport = now + .seconds(1)
        let media = Self.nanoseconds(unit.presentation)
        let observed = wallClock &- media
        let known = wallOffset ?? observed
        let difference = observed &- known
        let offset =
            difference.magnitude > Self.maximumDrift.magnitude
            ? observed : known &+ min(max(difference, -Self.driftStep), Self.driftStep)
        wallOffset = offset
        let timestamp = output.tracks[position].track.timeline.outgoing(tracks[position].packetizer.timestamp)
        output.sink.handle(
            .senderReport(
                track: position, ntp: NTPTimestamp(unixNanoseconds: offset &+ media).rawValue, rtpTimestamp: timestamp))
    }

    private static func nanoseconds(_ ticks: Int64) -> Int64 {
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: StreamUnit.clockRate)
        return seconds &* 1_000_000_000 &+ rest * 1_000_000_000 / StreamUnit.clockRate
    }
}

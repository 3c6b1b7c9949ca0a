import DatagramPort
import Intake
import RTP
import SDP
import Transport

/// Watches a source's packets and events.
final class ProbeSink: CameraSink {
    struct Watched {
        var tracks: [TrackMeter] = []
        var playingAt: Instant?
        var firstPacketAt: Instant?
        var firstKeyFrameAt: Instant?
        var failures: [CameraFailure] = []
    }

    private let watched = Locked(Watched())
    private let wallClock: @Sendable () -> Int64
    /// Called on the source's thread after each failure and at the first packet.
    private let wake: @Sendable () -> Void

    /// `wallClock` returns the time since 1970 in nanoseconds.
    init(wallClock: @escaping @Sendable () -> Int64, wake: @escaping @Sendable () -> Void) {
        self.wallClock = wallClock
        self.wake = wake
    }

    /// What has been seen so far.
    var snapshot: Watched { watched.withLock { $0 } }

    /// Counts one track's packets.
    private struct Inlet: PacketInlet {
        let sink: ProbeSink
        let track: Int

        func deliver(_ batch: PacketBatch) { sink.receive(batch, track: track) }
    }

    func open(_ tracks: [TrackDescription]) -> [any PacketInlet] {
        watched.withLock { watched in
            // When the same tracks are reported again, only their profile has been learnt.
            if watched.tracks.map(\.description.kind) == tracks.map(\.kind) {
                for (index, description) in tracks.enumerated() { watched.tracks[index].description = description }
            } else {
                watched.tracks = tracks.map { TrackMeter($0) }
            }
        }
        return tracks.indices.map { Inlet(sink: self, track: $0) }
    }

    private func receive(_ batch: PacketBatch, track: Int) {
        let isFirst = watched.withLock { watched -> Bool in
            guard watched.tracks.indices.contains(track) else { return false }
            watched.tracks[track].count(batch)
            if watched.firstKeyFrameAt == nil, watched.tracks[track].description.kind == .video,
                watched.tracks[track].keyFrames > 0
            {
                watched.firstKeyFrameAt = batch.arrival
            }
            guard watched.firstPacketAt == nil else { return false }
            watched.firstPacketAt = batch.arrival
            return true
        }
        if isFirst { wake() }
    }

    func handle(_ event: CameraEvent) {
        switch event {
        case .state(.playing):
            watched.withLock { $0.playingAt = MonotonicClock.now }
        case .state(.backingOff(_, let reason)), .state(.givenUp(_, _, let reason)):
            watched.withLock { $0.failures.append(reason) }
            wake()
        case .senderReport(let track, let ntp, _):
            let offset = NTPTimestamp(rawValue: ntp).unixNanoseconds &- wallClock()
            watched.withLock { watched in
                guard watched.tracks.indices.contains(track) else { return }
                watched.tracks[track].clockOffset = Double(offset) / 1e9
            }
        default:
            break
        }
    }
}

/// Measures one track.
struct TrackMeter {
    var description: TrackDescription
    var clockOffset: Double?
    private(set) var packets = 0
    private(set) var lostPackets = 0
    private(set) var keyFrames = 0
    private var frames = 0
    private var bytes = 0
    private var keyFrameTicks: [UInt32] = []
    private var lastNumber: UInt16?
    private var sequenceParameterSet: H264.SequenceParameterSet?
    private var size: (width: Int, height: Int)?
    private var hasBidirectionalSlice = false
    private var newestTimestamp: UInt32?
    private var runsBackwards = false

    init(_ description: TrackDescription) { self.description = description }

    mutating func count(_ batch: PacketBatch) {
        for packet in batch.packets {
            packets += 1
            bytes += Int(packet.length)
            if let lastNumber {
                lostPackets += max(0, packet.sequenceNumber.sequenceDistance(from: lastNumber) - 1)
            }
            lastNumber = packet.sequenceNumber
            guard description.kind == .video else {
                frames += 1
                continue
            }
            countVideo(packet, batch.payload(of: packet))
        }
    }

    private mutating func countVideo(_ packet: PacketBatch.Packet, _ payload: UnsafeRawBufferPointer) {
        if packet.flags.contains(.startsFrame) {
            frames += 1
            // A timestamp that steps back belongs to a frame that is shown before an earlier one.
            if let newest = newestTimestamp {
                if Int32(bitPattern: packet.timestamp &- newest) < 0 { runsBackwards = true }
            }
            newestTimestamp = packet.timestamp
            if packet.flags.contains(.keyFrame) {
                keyFrames += 1
                if keyFrameTicks.count < 1000 { keyFrameTicks.append(packet.timestamp) }
            }
        }
        if description.codec.isNamed("H264") {
            inspectH264(payload)
        } else if description.codec.isNamed("VP8"), packet.flags.contains([.startsFrame, .keyFrame]), size == nil,
            let head = VP8PayloadDescriptor(parsing: payload), payload.count >= head.length + 10
        {
            // RFC 6386, section 9.1: fourteen bits each, after the start code.
            let at = head.length + 6
            size = (
                (Int(payload[at]) | Int(payload[at + 1]) << 8) & 0x3FFF,
                (Int(payload[at + 2]) | Int(payload[at + 3]) << 8) & 0x3FFF
            )
        }
    }

    private mutating func inspectH264(_ payload: UnsafeRawBufferPointer) {
        guard let first = payload.first else { return }
        if H264.startsBidirectionalSlice(payload: payload) { hasBidirectionalSlice = true }
        var unit = payload
        if first & 0x1F == H264.UnitType.singleTimeAggregation {
            guard payload.count > 3 else { return }
            let end = 3 + Int(payload[1]) << 8 + Int(payload[2])
            guard end <= payload.count else { return }
            unit = UnsafeRawBufferPointer(rebasing: payload[3..<end])
        }
        guard unit.first.map({ $0 & 0x1F }) == H264.UnitType.sequenceParameterSet,
            let set = H264.SequenceParameterSet(parsing: unit)
        else { return }
        sequenceParameterSet = set
        size = (set.width, set.height)
    }

    /// The findings after `seconds`.
    func report(seconds: Double) -> CameraProbeReport.Track {
        var track = CameraProbeReport.Track(description)
        track.packets = packets
        track.lostPackets = lostPackets
        track.keyFrames = keyFrames
        track.clockOffset = clockOffset
        track.width = size?.width
        track.height = size?.height
        if let set = sequenceParameterSet { track.profile = Self.words(set) }
        if description.kind == .video, packets > 0 { track.hasBFrames = hasBidirectionalSlice || runsBackwards }
        if seconds > 0 {
            track.bitsPerSecond = Int(min(Double(bytes) * 8 / seconds, 1e15))
            track.framesPerSecond = Double(frames) / seconds
        }
        if let first = keyFrameTicks.first, let last = keyFrameTicks.last, keyFrameTicks.count > 1 {
            let ticks = Double(last &- first) / Double(keyFrameTicks.count - 1)
            track.keyFrameInterval = ticks / Double(max(1, description.codec.clockRate))
        }
        return track
    }

    private static func words(_ set: H264.SequenceParameterSet) -> String {
        let name =
            switch set.profile {
            case 66: set.constraints & 0x40 != 0 ? "Constrained Baseline" : "Baseline"
            case 77: "Main"
            case 88: "Extended"
            case 100: "High"
            case 110: "High 10"
            case 122: "High 4:2:2"
            case 244: "High 4:4:4"
            default: "profile \(set.profile)"
            }
        return "H.264 \(name), level \(set.level / 10).\(set.level % 10)"
    }
}

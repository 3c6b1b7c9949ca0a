import Intake
import PacketFakes
import RTP

@testable import Cameras

/// A sink that passes everything on to a test, in order.
final class RecordingSink: CameraSink {
    enum Item: Sendable, Equatable {
        case event(CameraEvent)
        case packets([ReceivedPacket], track: Int)
    }

    let items: AsyncStream<Item>
    private let continuation: AsyncStream<Item>.Continuation

    init() {
        (items, continuation) = AsyncStream.makeStream()
    }

    private struct Inlet: PacketInlet {
        let sink: RecordingSink
        let track: Int

        func deliver(_ batch: PacketBatch) { sink.receive(batch, track: track) }
    }

    func open(_ tracks: [TrackDescription]) -> [any PacketInlet] {
        handle(.tracks(tracks))
        return tracks.indices.map { Inlet(sink: self, track: $0) }
    }

    private func receive(_ batch: PacketBatch, track: Int) {
        let packets = batch.packets.map {
            ReceivedPacket(
                sequenceNumber: $0.sequenceNumber, timestamp: $0.timestamp, flags: $0.flags,
                payload: Array(batch.payload(of: $0)))
        }
        continuation.yield(.packets(packets, track: track))
    }

    func handle(_ event: CameraEvent) {
        continuation.yield(.event(event))
        if event == .state(.stopped) { continuation.finish() }
    }

    /// Everything up to and including the first item that `isLast` accepts, or to the end.
    func take(until isLast: (Item) -> Bool) async -> [Item] {
        var taken: [Item] = []
        for await item in items {
            taken.append(item)
            if isLast(item) { break }
        }
        return taken
    }

    /// What remains after the source has been stopped.
    func rest() async -> [Item] { await take { _ in false } }
}

extension [RecordingSink.Item] {
    var states: [SourceState] {
        compactMap { item in
            guard case .event(.state(let state)) = item else { return nil }
            return state
        }
    }

    func packets(ofTrack wanted: Int) -> [ReceivedPacket] {
        flatMap { item -> [ReceivedPacket] in
            guard case .packets(let packets, let track) = item, track == wanted else { return [] }
            return packets
        }
    }
}

extension RecordingSink.Item {
    var isBackingOff: Bool {
        guard case .event(.state(.backingOff)) = self else { return false }
        return true
    }
}

import NIOCore
import Testing
import Transport

@testable import Gateway
@testable import PushAvStreamTransport

/// What an HTTP player of a live stream gets, and how the gateway notices that it has left.
@Suite(.timeLimit(.minutes(10))) struct LiveFileBodyTests {
    private struct Left: Error {}

    private let subscription = LiveSubscription {}
    private let written = Locked<[[UInt8]]>([])

    private static let emptyBox: [UInt8] = [0, 0, 0, 8, 0x66, 0x72, 0x65, 0x65]

    private static func description(_ number: UInt64) -> LiveDescription {
        LiveDescription(tracks: [], header: [UInt8(number)], number: number)
    }

    private var file: LiveFileBody {
        LiveFileBody(description: Self.description(1), subscription: subscription, pause: .milliseconds(1))
    }

    /// Keeps what is written.
    /// - Returns: how often something was written.
    private func keep(_ buffer: ByteBuffer) -> Int {
        written.withLock { written in
            written.append(Array(buffer.readableBytesView))
            return written.count
        }
    }

    @Test func `a player that leaves while its camera is away is noticed`() async throws {
        await #expect(throws: Left.self) {
            // The first write to a client that has gone succeeds.
            try await file.send { if keep($0) == 3 { throw Left() } }
        }
        #expect(written.withLock { $0 } == [[1], Self.emptyBox, Self.emptyBox])
    }

    @Test func `a player that waits for its camera gets an empty box, and then what comes`() async throws {
        let chunk = LiveChunk(track: 0, canBegin: true, decodeTime: 0, duration: 1, bytes: [7])
        try await file.send { buffer in
            _ = keep(buffer)
            let bytes = Array(buffer.readableBytesView)
            if bytes == Self.emptyBox { subscription.add(chunk) }
            // The camera changes what it sends.
            if bytes == chunk.bytes { subscription.begin(Self.description(2)) }
        }
        #expect(written.withLock { $0 } == [[1], Self.emptyBox, chunk.bytes])
    }
}

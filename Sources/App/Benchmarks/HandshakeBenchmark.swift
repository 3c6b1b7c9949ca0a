import DTLS
import DatagramPort
import Transport

/// The cost of a DTLS handshake, next to the cost of the same handshake with libssl alone.
public struct HandshakeMeasurement: Codable, Hashable, Sendable {
    /// Handshakes that one core can do as the server, which is the gateway's usual role.
    public var handshakesPerSecond: Double
    /// Processor microseconds of the server's side, from making it to freeing it.
    public var serverMicroseconds: Double
    /// Processor microseconds of both sides.
    public var pairMicroseconds: Double
    /// The same for libssl with plain memory BIOs, in the same run.
    public var libsslHandshakesPerSecond: Double
    /// Processor microseconds of libssl's server side.
    public var libsslServerMicroseconds: Double
    /// Processor microseconds of both sides of libssl.
    public var libsslPairMicroseconds: Double
    /// The cost of our server divided by that of libssl's server.
    public var ratio: Double
    /// How many handshakes of each kind were measured.
    public var handshakes: Int
}

/// Handshakes in memory, in small rounds that alternate with those of libssl alone. Both sides use certificates on
/// P-256, X25519, AES-128-GCM and `use_srtp`, and export the keys.
public struct HandshakeBenchmark {
    private static let perRound = 10
    private let rounds: Int
    private let server: DTLSIdentity
    private let client: DTLSIdentity
    private let libssl: LibsslHandshake

    /// Prepares for about `handshakes` handshakes of each kind.
    public init(handshakes: Int) throws {
        rounds = min(max(handshakes / Self.perRound, 3), 10_000)
        server = try DTLSIdentity.generate()
        client = try DTLSIdentity.generate()
        libssl = try LibsslHandshake(server: server, client: client)
    }

    /// Measures.
    public func measure() throws -> HandshakeMeasurement {
        var ours: [HandshakeCost] = []
        var theirs: [HandshakeCost] = []
        // The first handshakes load what the library then keeps.
        for _ in 0..<3 {
            _ = try shakeHands()
            _ = try libssl.shakeHands()
        }
        for round in 0..<rounds {
            for turn in 0..<2 {
                for _ in 0..<Self.perRound {
                    if (round + turn) % 2 == 0 {
                        ours.append(try shakeHands())
                    } else {
                        theirs.append(try libssl.shakeHands())
                    }
                }
            }
        }
        let ourServer = microseconds(ours.map(\.server))
        let theirServer = microseconds(theirs.map(\.server))
        return HandshakeMeasurement(
            handshakesPerSecond: 1e6 / ourServer, serverMicroseconds: ourServer,
            pairMicroseconds: microseconds(ours.map(\.pair)), libsslHandshakesPerSecond: 1e6 / theirServer,
            libsslServerMicroseconds: theirServer, libsslPairMicroseconds: microseconds(theirs.map(\.pair)),
            ratio: ourServer / theirServer, handshakes: ours.count)
    }

    private func microseconds(_ nanoseconds: [Int64]) -> Double {
        Double(nanoseconds.median ?? 0) / 1000
    }

    private func shakeHands() throws -> HandshakeCost {
        let now = MonotonicClock.now
        let start = ProcessorClock.thread
        var cost = HandshakeCost()
        do {
            var ourServer = try DTLSEndpoint(
                identity: server, role: .server, remoteFingerprints: [client.fingerprint], now: now)
            cost.server += ProcessorClock.thread - start
            var ourClient = try DTLSEndpoint(
                identity: client, role: .client, remoteFingerprints: [server.fingerprint], now: now)
            ourClient.start(at: now)
            try withUnsafeTemporaryAllocation(byteCount: 2048, alignment: 16) { buffer in
                // Each side has two flights. More turns than these mean that the handshake has stopped.
                for _ in 0..<4 where ourServer.keyingMaterial == nil || ourClient.keyingMaterial == nil {
                    while let count = ourClient.pollTransmit(into: buffer) {
                        let before = ProcessorClock.thread
                        try ourServer.handle(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: now)
                        cost.server += ProcessorClock.thread - before
                    }
                    while let count = ourServer.pollTransmit(into: buffer) {
                        try ourClient.handle(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: now)
                    }
                }
            }
            guard let sent = ourServer.keyingMaterial, let received = ourClient.keyingMaterial,
                sent.localMasterKey == received.remoteMasterKey
            else { throw BenchmarkFailure("the endpoints did not finish their handshake") }
        }
        cost.pair = ProcessorClock.thread - start
        return cost
    }
}

/// Processor nanoseconds of one handshake.
struct HandshakeCost {
    /// The server's side.
    var server: Int64 = 0
    /// Both sides.
    var pair: Int64 = 0
}
